"""undefined.py: the one list of what PyTorch 1.13 leaves undefined: it reads memory that nobody wrote, or beyond its
tensors, or gives what a vector unit or a hash table happens to give. Such calls are not compared; parity.py prints how many
were left out, and why. What PyTorch defines, however odd, is no matter for this list."""
import re

from source import contiguous, prod

# Arguments that calls don't change: row's name, argument -> why.
FIXED = {
    ('slice_scatter', 'start'): 'None is a place that PyTorch 1.13 did not write',
    ('slice_scatter', 'end'): 'None is a place that PyTorch 1.13 did not write',
    ('slice_copy', 'start'): 'None is a place that PyTorch 1.13 did not write',
    ('slice_copy', 'end'): 'None is a place that PyTorch 1.13 did not write',
    ('slice_copy', 'step'): 'a step that is not given is a place that PyTorch 1.13 did not write',
    ('kaiser_window', 'dtype'): 'rounds each of its steps to bfloat16',
    **{('native_batch_norm', x): 'trusts the sizes' for x in ('input', 'weight', 'bias', 'running_mean', 'running_var')},
    **{('linalg_ldl_solve', x): 'LAPACK reads where the pivots say' for x in ('LD', 'pivots', 'B')},
    ('native_group_norm', 'weight'): 'read as if it were contiguous',
    ('native_group_norm', 'bias'): 'read as if it were contiguous',
    ('gradient', 'spacing'): 'coordinates of another length are read where none are',
    ('histogram', 'bins'): 'edges that do not ascend are searched as if they did',
    ('matrix_exp', 'self'): 'bfloat16 reads coefficients as another type',
    ('linalg_ldl_factor', 'self'): 'zero or not is a matter of rounding in float32',
    ('linalg_ldl_factor_ex', 'self'): 'zero or not is a matter of rounding in float32',
    ('affine_grid_generator', 'theta'): 'integers: places of a grid without a meaning',
    ('unique', 'sorted'): 'the order of its hash table',
    ('fractional_max_pool2d', '_random_samples'): 'reads three numbers wherever they are',
    ('fractional_max_pool3d', '_random_samples'): 'reads three numbers wherever they are',
    ('fractional_max_pool2d_with_indices', '_random_samples'): 'reads three numbers wherever they are',
    ('fractional_max_pool3d_with_indices', '_random_samples'): 'reads three numbers wherever they are',
    ('masked_fill', 'mask'): 'reads the bytes of other types as bools',
    ('masked_scatter', 'mask'): 'reads the bytes of other types as bools',
}


def fixed_by_reason():
    """Reason -> the arguments, for people."""
    out = {}
    for (row, name), why in FIXED.items():
        out.setdefault(why, []).append(f'{row}.{name}')
    return {why: ' '.join(names) for why, names in out.items()}


# Rows whose calls are not made wrong: PyTorch takes what it does not check (a mode that is no mode, None behind a list).
NOT_SPOILED = {'hsplit', 'vsplit', 'dsplit', 'slice_scatter', 'slice_copy', 'grid_sampler', 'grid_sampler_2d', 'grid_sampler_3d',
               'embedding_renorm_', 'native_batch_norm', 'deform_conv2d_split', *(ps + name + python for ps in ('', 'ps_') for name in
               ('roi_align', 'roi_pool') for python in ('', '_boxes')), 'special_softmax', 'special_log_softmax', 'gradient', 'matrix_exp', 'batched_nms'}


def argument(case, i, name):
    """Argument i, or by its name; None when it is not given."""
    args = case.get('args', [])
    return args[i] if i < len(args) else case.get('kwargs', {}).get(name)


def tensor(case, i, name):
    a = argument(case, i, name)
    return a['t'] if isinstance(a, dict) and 't' in a else None


def tensors(j):
    if isinstance(j, (list, tuple)):
        return [t for x in j for t in tensors(x)]
    if not isinstance(j, dict):
        return []
    return [j['t']] if 't' in j else [t for x in j.values() for t in tensors(x)]


def pivots_of_others(case):
    lu, pivots = tensor(case, 0, 'LU_data'), tensor(case, 1, 'LU_pivots')
    if not lu or not pivots or len(lu['sizes']) < 2:
        return False
    return pivots['sizes'][:-1] != lu['sizes'][:-2] or pivots['sizes'][-1:] < [min(lu['sizes'][-2:])]


def without_beta(case):
    beta = case.get('kwargs', {}).get('beta', 1)
    return not isinstance(beta, dict) and beta == 0


def not_unique(case):
    if not case.get('kwargs', {}).get('assume_unique'):
        return False
    return any(len(set(t['data'])) < len(t['data']) or 0 in t['strides'] for t in tensors(case.get('args', [])))


def complex_vectors(case):
    found = tensors([case.get('args', []), list(case.get('kwargs', {}).values())])
    return any(t['dtype'].startswith('complex') for t in found) and any(len(t['sizes']) == 1 for t in found)


def any_complex(case):
    return any(t['dtype'].startswith('complex') for t in tensors([case.get('args', []), list(case.get('kwargs', {}).values())]))


def uneven_groups(case):
    """Or fewer than none, to which none of the channels belong but the first."""
    t, groups = tensor(case, 0, 'self'), argument(case, 1, 'groups')
    return bool(t) and len(t['sizes']) > 1 and isinstance(groups, int) and (groups < 0 or groups > 0 and t['sizes'][1] % groups != 0)


def any_bfloat16(case):
    return any(t['dtype'] == 'bfloat16' for t in tensors(case.get('args', [])))


def padding_of_floats(case):
    """Of floats, with an attn_mask."""
    padding, mask = case.get('kwargs', {}).get('key_padding_mask'), case.get('kwargs', {}).get('attn_mask')
    return any(t['dtype'] != 'bool' for t in tensors(padding)) and bool(tensors(mask))


def groups_of_one(case):
    """Of bfloat16, one element each."""
    x, groups = tensor(case, 0, 'input'), argument(case, 1, 'num_groups')
    if not x or not isinstance(groups, int) or groups < 1 or len(x['sizes']) < 2:
        return False
    return any_bfloat16(case) and prod(x['sizes'][1:]) == groups


def sorter_beyond(case):
    edges, sorter = tensor(case, 0, 'sorted_sequence'), case.get('kwargs', {}).get('sorter')
    if not edges or not edges['sizes'] or not tensors(sorter):
        return False
    return any(isinstance(x, str) or not 0 <= x < edges['sizes'][-1] for x in tensors(sorter)[0]['data'])


def number_for_other(case):
    other = argument(case, 2, 'other')
    return other is not None and not tensors(other)


def negative_lengths(case):
    return any(x < 0 for i, n in ((2, 'input_lengths'), (3, 'target_lengths')) for t in tensors(argument(case, i, n)) for x in t['data']
               if not isinstance(x, str))


def labels_beyond(case):
    probs, targets = tensor(case, 0, 'log_probs'), tensor(case, 1, 'targets')
    if not probs or not targets or not probs['sizes']:
        return False
    return any(not isinstance(x, str) and not 0 <= int(x) < probs['sizes'][-1] for x in targets['data'])


def margin_memory(case):
    x, w = tensor(case, 0, 'input'), tensor(case, 4, 'weight')
    if not x or not x['sizes']:
        return False
    return 0 in x['sizes'] or bool(w) and (w['sizes'] != x['sizes'][-1:] or w['strides'] != [1])


def drops(case):
    p = case.get('kwargs', {}).get('attention_dropout', 0) or case.get('kwargs', {}).get('dropout', 0)
    return bool(p) and case.get('kwargs', {}).get('training', True)


def shifted_beyond(case):
    """By less than 0, or by more bits than there are."""
    by = case.get('args', [])[:1] if '__r' in case['op'] else case.get('args', [])[1:2]
    amounts = [x for t in tensors(by) for x in t['data']] + [a for a in by if isinstance(a, int)]
    return any(not 0 <= x < 8 for x in amounts)


def transposed_bfloat16(case):
    return argument(case, 6, 'transposed') is True and any_bfloat16(case)


def other_segments(case):
    """Lengths of another shape in front, or of more elements than there are."""
    data, lengths, unsafe = tensor(case, 0, 'data'), tensor(case, 2, 'lengths'), case.get('kwargs', {}).get('unsafe')
    if not data or not lengths or not lengths['sizes'] or len(lengths['sizes']) > len(data['sizes']):
        return False
    axis = len(lengths['sizes']) - 1
    return data['sizes'][:axis] != lengths['sizes'][:axis] or bool(unsafe) and (
        sum(abs(x) for x in lengths['data'][:prod(lengths['sizes'])]) > data['sizes'][axis])


def elements(t):
    """Those of a view, row by row."""
    at = [t['offset']]
    for size, stride in zip(t['sizes'], t['strides']):
        at = [a + i * stride for a in at for i in range(size)]
    return [t['data'][a] for a in at]


def on_an_edge(case):
    """An element of a histogram, with a number of bins, that is as good as on an edge between two of them."""
    t, bins = tensor(case, 0, 'self'), argument(case, 1, 'bins')
    if not t or isinstance(bins, dict) or t['dtype'] not in ('float32', 'float64') or not prod(t['sizes']):
        return False
    width = t['sizes'][-1] if case['op'].endswith('dd') and t['sizes'] else 1
    values = elements(t)
    ranges = case.get('kwargs', {}).get('range') or {}
    ranges = ranges.get('tuple', []) if isinstance(ranges, dict) else ranges
    if any(isinstance(x, str) for x in values + ranges):
        return False
    for d in range(width):
        n = bins[d] if isinstance(bins, list) and d < len(bins) else 100 if bins is None else bins
        mine = values[d::width]
        low, high = ranges[2 * d:2 * d + 2] if len(ranges) >= 2 * d + 2 else (min(mine), max(mine))
        if not isinstance(n, int) or n < 1 or low >= high:
            continue
        places = [(x - low) / (high - low) * n for x in mine]
        if any(0.5 < p < n - 0.5 and abs(p - round(p)) < 1e-4 for p in places):
            return True
    return False


def descending_offsets(case):
    offsets = tensor(case, 2, 'offsets')
    if not offsets or not offsets['strides']:
        return False
    at = [offsets['data'][offsets['offset'] + i * offsets['strides'][0]] for i in range(offsets['sizes'][0])]
    return any(a > b for a, b in zip(at, at[1:]))


def many_derivatives(case):
    n = next((a for a in case.get('args', []) if isinstance(a, int)), 0)
    return any_bfloat16(case) and n > 20


def scale_of_zero(case):
    """Which makes NaN of what is divided by it, an element of 0 or none."""
    scale = tensor(case, 1, 'scale')
    return bool(scale) and any(x == 0 for x in scale['data'] if not isinstance(x, str))


def names_beyond(case):
    """A name for what is flattened, of dimensions that are not counted from 0, or that are not there."""
    x, out = tensor(case, 0, 'self'), len(case.get('args', [])) > 3 or 'out_dim' in case.get('kwargs', {})
    start, end = argument(case, 1, 'start_dim'), argument(case, 2, 'end_dim')
    if not x or not out or not isinstance(start, int) or not isinstance(end, int):
        return False
    return not 0 <= start <= end + 1 <= len(x['sizes'])


def complex_row(case):
    weight = tensor(case, 1, 'weight')
    return bool(weight) and len(weight['sizes']) == 1 and any_complex(case)


def to_the_last_digit(case):
    return argument(case, 6, 'tol') == 0


def equal_elements(case):
    t = tensor(case, 0, 'self')
    without = case['op'].endswith('median') and len(case['args']) == 1 and 'dim' not in case.get('kwargs', {})
    if not t or without:
        return False
    return len(set(t['data'])) < len(t['data']) or any(n > 1 and s == 0 for n, s in zip(t['sizes'], t['strides']))


def unsorted(case):
    args = case.get('args', [])
    return case.get('kwargs', {}).get('sorted') is False or len(args) > 4 and args[4] is False


def other_samples(case):
    samples = case.get('kwargs', {}).get('_random_samples')
    x, dims = tensor(case, 0, 'input'), int(re.search(r'pool(\d)d', case['op'])[1])
    if not isinstance(samples, dict) or not x:
        return False
    return samples['t']['sizes'] != ([1] + x['sizes'])[-dims - 2:-dims] + [dims]


def table_of_more(case):
    weight = tensor(case, 1, 'weight')
    return bool(weight) and len(weight['sizes']) > 2


def dependent_rows(case):
    """A view of a matrix whose elements are the same in two rows or columns."""
    t = tensor(case, 0, 'input') or tensor(case, 0, 'A') or tensor(case, 0, 'self')
    if not t or len(t['sizes']) < 2 or 'data' not in t:
        return False
    (h, w), (down, right), data = t['sizes'][-2:], t['strides'][-2:], t['data']
    if not prod(t['sizes']):
        return False
    if down == 0 or right == 0:
        return h > 1 or w > 1
    size = 2 if str(t['dtype']).startswith('complex') else 1
    rows = [tuple(data[(t['offset'] + i * down + j * right) * size] for j in range(w)) for i in range(h)]
    return len(set(rows)) < h or len(set(zip(*rows))) < w


def odd_strides(case):
    found = tensors([case.get('args', []), list(case.get('kwargs', {}).values())])
    return any(t['strides'] != contiguous(t['sizes']) for t in found)


def strided_edges(case):
    bins = argument(case, 1, 'bins')
    return any(t['strides'] not in ([1], []) for t in tensors(bins) if t['sizes'] != [1])


def bins_of_others(case):
    x, bins = tensor(case, 0, 'self'), argument(case, 1, 'bins')
    return bool(x) and isinstance(bins, list) and bool(x['sizes']) and len(bins) != x['sizes'][-1]


def grows(case):
    t, other = tensor(case, 0, 'self'), tensor(case, 1, 'the_template')
    if not t:
        return False
    given = case['args'][1:] + [case.get('kwargs', {}).get('size')]
    sizes = other['sizes'] if other else [n for a in given for n in (a if isinstance(a, list) else [a])]
    sizes = [n for n in sizes if isinstance(n, int)]
    stays = sizes == t['sizes'] and 'memory_format' not in case.get('kwargs', {})
    return not stays and prod(sizes) > len(t['data']) // (2 if t['dtype'].startswith('complex') else 1) - t['offset']


def constant_rows(case):
    """Rows whose variance is 0, or what rounding leaves of it."""
    t = tensor(case, 0, 'input')
    return bool(t) and bool(t['sizes']) and (t['strides'][-1] == 0 or dependent_rows(case)) and t['sizes'][-1] > 1


def other_masks(case):
    mask = tensor(case, 1, 'mask')
    return bool(mask) and mask['dtype'] not in ('bool', 'uint8')


def nothing(case):
    x = tensor(case, 0, 'input')
    return bool(x) and 0 in x['sizes']


def moved_by_itself(case):
    """In place, with elements that don't lie as the rows of a result of another shape do."""
    t, a, b = tensor(case, 0, 'input'), tensor(case, 1, 'batch1'), tensor(case, 2, 'batch2')
    if not t or not a or not b or len(a['sizes']) != 3 or len(b['sizes']) != 3 or without_beta(case):
        return False
    if t['sizes'] == [a['sizes'][1], b['sizes'][2]]:
        return False
    columns = len(t['sizes']) == 2 and t['sizes'][0] > 1 and t['sizes'][1] == 1
    steps = [(s, c) for n, s, c in zip(t['sizes'], t['strides'], contiguous(t['sizes'])) if n > 1]
    return any(s for s, _ in steps) and (columns or any(s != c for s, c in steps))


def none_of_one(case):
    x, index = tensor(case, 0, 'self') or tensor(case, 0, 'input'), tensor(case, 2, 'index')
    return bool(x) and x['sizes'] == [] and bool(index) and 0 in index['sizes']


def odd_regions(case):
    """Boxes that are none, or of images that are not there."""
    x, rois = tensor(case, 0, 'input'), tensor(case, 1, 'rois') or tensor(case, 1, 'boxes')
    if not x or not x['sizes']:
        return False
    if len(x['sizes']) > 4:
        return True
    if not rois:
        images = tensors(argument(case, 1, 'boxes'))
        return len(images) > x['sizes'][0] or any(len(t['sizes']) > 2 for t in images)
    if len(rois['sizes']) != 2 or rois['sizes'][1] != 5:
        return True
    return any(isinstance(v, str) or not -1 < v < x['sizes'][0] for v in elements(rois)[::5])


def norms_constant_rows(case):
    """Before anything else."""
    hyper = case['hyper']
    layers = [hyper] + [hyper[n]['dict'] for n in ('encoder_layer', 'decoder_layer') if n in hyper]
    first = tensors(case['args'][:2 if case['layer'] == 'Transformer' else 1])
    return any(x.get('norm_first') for x in layers) and any(t['strides'][-1:] == [0] for t in first)


CASES = [
    (r'^Transformer', norms_constant_rows, 'what rounding leaves of the variance of constant rows, which is normed first, depends on the vector unit'),
    (r'roi_(align|pool)$|RoI', odd_regions, 'pooling by boxes reads boxes beyond their rows, images that are not there, and four dimensions of five'),
    (r'scaled_dot_product_attention$', lambda case: argument(case, 4, 'dropout_p'), 'what is dropped at random'),
    (r'segment_reduce$', other_segments, 'segment_reduce trusts lengths: those of another shape are read beyond their end, unsafe ones lead beyond the data'),
    (r'segment_reduce$', odd_strides, 'segment_reduce steps by the strides of dimensions that have one element'),
    (r'histogram(dd)?$', on_an_edge, "which side of an edge an element is on: the last bits of linspace's edges depend on how wide the vector unit is"),
    (r'histogram(dd)?$', strided_edges, 'edges that do not lie side by side are read as if they did'),
    (r'histogramdd$', bins_of_others, 'histogramdd reads bins beyond those that are given'),
    (r'\bresize_(as_)?$', grows, 'elements that resize_ adds are those that were in memory'),
    (r'\bmulti_margin_loss$', margin_memory, 'multi_margin_loss reads weights that are not there, and gives of no input what was in memory'),
    (r'shifted_window_attention$', drops, 'what is dropped at random'),
    (r'\b(topk|kthvalue|mode|median|nanmedian)$', equal_elements, 'which of equal elements is taken'),
    (r'\btopk$', unsorted, 'the order of topk when it is not to be sorted'),
    (r'^Tensor\.where$', number_for_other, 'Tensor.where refuses a number, which PyTorch takes from 2.0 on, and as its graphs have it'),
    (r'multi_head_attention_forward$|MultiheadAttention$', padding_of_floats,
     'a padding of floats is read as bools beside a mask, and added as PyTorch 2 does'),
    (r'group_norm$|GroupNorm$', groups_of_one, 'group_norm of bfloat16 with groups of one element gives 0 or other numbers than the bias'),
    (r'searchsorted$', sorter_beyond, 'searchsorted reads beyond its sequence for sorters that lead there'),
    (r'ctc_loss$', negative_lengths, 'ctc_loss of lengths below 0 reads what stands before its memory'),
    (r'ctc_loss$', labels_beyond, 'ctc_loss reads beyond its log_probs for labels that are no classes'),
    (r'conv_transpose\dd$', any_bfloat16, "transposed convolution of bfloat16 takes its weight's channels for the other side's, in what oneDNN is given"),
    (r'\bconvolution$', transposed_bfloat16, 'the same of torch.convolution'),
    (r'shift_?_?$', shifted_beyond, 'C++ defines no shift by less than 0 or more bits than there are'),
    (r'\bembedding_bag$', descending_offsets, 'embedding_bag writes beyond its memory when its offsets descend: the process dies, or not'),
    (r'polygamma$', many_derivatives, 'polygamma of bfloat16 sums powers that are 0 in it: 0 or NaN, where float32 has infinity'),
    (r'\blinear$', complex_row, "Debian's PyTorch calls BLAS's complex dot product by another convention, and gives 0 or what was there"),
    (r'\blobpcg$', to_the_last_digit, 'lobpcg that is to go on until rounding stops it: it stops with an error or without'),
    (r'fake_quantize_per_\w+_affine$', scale_of_zero, 'C++ does not define which integer a NaN is: what fake_quantize makes of 0 / 0'),
    (r'\bflatten$', names_beyond, 'flatten with out_dim erases names before or behind those of its dimensions: the process dies, or not'),
    (r'native_channel_shuffle$', uneven_groups, 'native_channel_shuffle leaves the channels that its groups do not divide unwritten'),
    (r'(\b|_)(ne|eq|not_equal)_$', any_complex, 'in place, complex numbers are equal when their real parts are, where the vector loop runs'),
    (r'baddbmm_?$', without_beta, 'baddbmm multiplies memory that nobody wrote by beta=0, which is NaN where that was'),
    (r'(\b|_)matrix_exp$', any_bfloat16, 'matrix_exp of bfloat16 reads the bytes of its coefficients as another type: exp of the unit matrix is -1.3e30'),
    (r'embedding_bag$', table_of_more, 'embedding_bag of a table of more than two dimensions reads other elements than the indices name: rows where a table of two would have them'),
    (r'\bindex_select$', none_of_one, 'index_select by no index leaves the element of a tensor without dimensions unwritten'),
    (r'(\b|_)(qr|eigh|svd|geqrf)$', dependent_rows, 'the rest of a basis beyond the rank is a matter of rounding'),
    (r'fractional_max_pool\dd(_with_indices)?$', other_samples, 'fractional pooling reads random samples wherever they are'),
    (r'\bcorrcoef$', constant_rows, 'corrcoef of a constant row is 0 / 0, or what rounding makes of it'),
    (r'masked_(fill|scatter)_?$', other_masks, 'masks of other types are read byte by byte, as if they were bools'),
    (r'multilabel_margin_loss$', nothing, 'multilabel_margin_loss gives of no input what was in memory'),
    (r'addbmm_$', moved_by_itself, 'addbmm_ that changes the shape of its tensor reads what it has overwritten'),
    (r'\bisin$', not_unique, 'isin believes assume_unique'),
    (r'lu_unpack$', pivots_of_others, 'lu_unpack walks over pivots of another batch, or fewer, as if they were its own'),
    (r'(\bdot|vdot|vecdot|inner|einsum|__r?matmul__|matmul|tensordot)_?$', complex_vectors,
     "Debian's PyTorch calls BLAS's complex dot product by another convention, and gives 0 or what was there"),
]


def rank_of(want):
    rank = want['value']['tuple'][2]['t']['data']
    return min(rank) if rank else None


def deficient(case, want):
    """lstsq by gelsy of a matrix that is not of full rank, or is not taken for one."""
    a = tensor(case, 0, 'self') or tensor(case, 0, 'A')
    by = case.get('kwargs', {}).get('driver')
    if 'value' not in want or by not in (None, 'gelsy') or not a:
        return False
    return rank_of(want) is not None and rank_of(want) < min(a['sizes'][-2:])


def ill_conditioned(case, want):
    """A condition number whose smallest singular value is nearer to what rounding leaves than the tolerance."""
    eps = 2 ** -52 if any(t['dtype'] in ('float64', 'complex128') for t in tensors(case['args'])) else 2 ** -23
    return any(isinstance(x, str) or 8 * eps * x > case.get('tolerance', 0) for t in tensors(want.get('value')) for x in t['data'])


def overflows(case, want):
    return any(x in ('inf', '-inf', 'nan') for t in tensors(want.get('value')) for x in t['data'])


def negative_sizes(case, want):
    return any(s < 0 for t in tensors(want.get('value')) for s in t['sizes'])


ANSWERS = [
    (r'linalg_lstsq$', deficient, 'lstsq by gelsy starts from pivots that nobody wrote, on which the solution of a deficient matrix depends'),
    (r'linalg_cond$', ill_conditioned, 'a condition number that is what rounding leaves of a singular value depends on the vector unit'),
    (r'(solve_ex|inv_ex|lu_solve)$', overflows, "which infinities of a singular matrix's solution meet depends on the number of BLAS's threads"),
    (r'matrix_power$', overflows, 'powers beyond the largest number: whether infinities meet in a sum is a matter of the order of its terms'),
    (r'', negative_sizes, 'PyTorch makes a tensor of a negative size'),
]


def of_answer(case, want):
    """Why an answer of PyTorch's is left out; None when it is to be compared."""
    name = case.get('op') or case['layer']
    return next((why for pattern, fits, why in ANSWERS if re.search(pattern, name) and fits(case, want)), None)


def reason(case):
    """Why a case is left out; None when it is to be compared."""
    name = case.get('op') or case['layer']
    return next((why for pattern, fits, why in CASES if re.search(pattern, name) and fits(case)), None)
