/* call.c: one eager call: Python arguments to values, the operator's row, results to Python. With a
 * proxy among the arguments the call is recorded instead. Fillings and views of tensors that nobody
 * has read leave them unread. */
#include "front/python/tensor.h"

/* ---- what functions do with unread tensors ---- */

typedef struct laziness_row {
    const char *names;
    unsigned char laziness;
} laziness_row;

static const laziness_row for_functions[] = {
    {" zeros ones empty full zeros_like ones_like empty_like full_like rand randn rand_like "
     "randn_like ",
     FXPY_MAKES},
    {" numel is_floating_point is_complex is_tensor ", FXPY_LOOKS},
    {" t transpose permute reshape flatten unsqueeze squeeze select narrow chunk split unbind "
     "detach diagonal movedim swapaxes ",
     FXPY_VIEWS},
    {" clone ", FXPY_CLONES},
};
static const laziness_row for_methods[] = {
    {" new_zeros new_ones new_empty new_full ", FXPY_MAKES},
    {" size stride dim numel nelement ndimension is_floating_point is_complex is_contiguous "
     "element_size storage_offset get_device is_signed ",
     FXPY_LOOKS},
    {" t transpose permute reshape flatten unsqueeze squeeze select narrow chunk split unbind "
     "detach diagonal movedim swapaxes view view_as reshape_as expand expand_as contiguous "
     "unflatten "
     "__getitem__ cpu cuda ",
     FXPY_VIEWS},
    {" zero_ fill_ uniform_ normal_ ", FXPY_FILLS},
    {" mul_ div_ add_ sub_ multiply_ divide_ ", FXPY_SCALES},
    {" clone ", FXPY_CLONES},
};

static bool listed(const char *list, const char *name) {
    char word[64];
    return snprintf(word, sizeof word, " %s ", name) < (int)sizeof word && strstr(list, word);
}

unsigned char fxpy_laziness(const char *name, bool method) {
    const laziness_row *rows = method ? for_methods : for_functions;
    size_t n = method ? sizeof for_methods / sizeof *rows : sizeof for_functions / sizeof *rows;
    for (size_t i = 0; i < n; i++)
        if (listed(rows[i].names, name))
            return rows[i].laziness;
    return FXPY_READS;
}

/* ---- one call ---- */

typedef struct call {
    FxpyFunction *f;
    fxpy_conversion c;
    fxs_arena arena;
    fxs_value args, kwargs;    /* in the arena */
    PyObject *generator, *out; /* borrowed keywords that no row knows; NULL: not given */
    bool on_meta;              /* device='meta' */
} call;

static bool is_meta(const fxs_value *v) {
    const char *s = v->tag == FXS_V_STR || v->tag == FXS_V_DEVICE ? fxs_value_text(v) : NULL;
    return s && strcmp(s, "meta") == 0;
}

/* Keywords, but those that are dealt with here. */
static int convert_kwargs(call *k, PyObject *const *values, PyObject *names) {
    Py_ssize_t n = names ? PyTuple_GET_SIZE(names) : 0;
    size_t kept = 0;
    if (fxs_make_dict(fxpy_ctx(), &k->arena, (size_t)n, &k->kwargs) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        fxs_pair *p = &k->kwargs.u.dict->pairs[kept];
        if (!name)
            return -1;
        if (strcmp(name, "generator") == 0 || strcmp(name, "out") == 0) {
            if (values[i] != Py_None)
                *(*name == 'g' ? &k->generator : &k->out) = values[i];
            continue;
        }
        if (fxpy_convert(&k->c, PyTuple_GET_ITEM(names, i), &p->key) < 0 ||
            fxpy_convert(&k->c, values[i], &p->value) < 0)
            return -1;
        k->c.meta |= strcmp(name, "device") == 0 && is_meta(&p->value);
        kept++;
    }
    k->kwargs.u.dict->len = kept;
    return 0;
}

static int convert_call(call *k, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    if (fxs_make_seq(fxpy_ctx(), &k->arena, FXS_V_TUPLE, (size_t)n, &k->args) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (fxpy_convert(&k->c, args[i], &k->args.u.seq->items[i]) < 0)
            return -1;
    return convert_kwargs(k, args + n, kwnames);
}

/* The rows of a call: of the function itself, or of what it is another word for (F.upsample). */
static const fxs_candidate *rows_of(call *k) {
    fxs_spelled as;
    const fxs_candidate *ops = k->f->ops;
    char method[128];
    if (ops)
        return ops;
    if (fxs_spell(fxpy_ctx(), &k->arena, k->f->path, &k->args, &k->kwargs, &as) != FXS_OK) {
        fxpy_raise();
        return NULL;
    }
    k->args = as.args;
    k->kwargs = as.kwargs;
    snprintf(method, sizeof method, "%s%s", as.method ? "Tensor." : "", as.target);
    if (fxs_registry_find(fxpy_ctx(), method, &ops) != FXS_OK)
        fxpy_raise();
    else if (!ops)
        PyErr_Format(PyExc_NotImplementedError,
                     "%s is not supported (fxscope has no kernel or shape rule for it)",
                     k->f->path);
    return ops;
}

static FxpyTensor *self_of(PyObject *const *args, Py_ssize_t n) {
    return n && fxpy_is_tensor(args[0]) ? (FxpyTensor *)args[0] : NULL;
}

/* An in-place call gave another view of self (squeeze_, t_, detach_): self becomes it. */
static void become(FxpyTensor *self, fxs_tensor *t) {
    fxs_tensor *old = self->t;
    self->t = fxs_tensor_ref(t);
    fxs_tensor_unref(old);
}

/* out=: what was computed goes there. */
static PyObject *write_out(call *k, PyObject *result) {
    PyObject *args = result ? PyTuple_Pack(2, k->out, result) : NULL;
    PyObject *written = args ? fxpy_call_spelling("Tensor.copy_", args, NULL) : NULL;
    Py_XDECREF(result);
    Py_XDECREF(args);
    return written;
}

/* Applies the rows; the result is counted. */
static int apply(call *k, const fxs_candidate *ops, bool meta, fxs_applied *out) {
    fxs_apply how = {.meta = meta, .train = true, .scratch = &k->arena};
    how.seed = fxpy_next_seed(k->generator);
    if (fxs_op_apply(fxpy_ctx(), ops, &k->args, &k->kwargs, &how, out) == FXS_OK)
        return 0;
    fxpy_raise();
    return -1;
}

static PyObject *compute(call *k, PyObject *const *args, Py_ssize_t n) {
    const fxs_candidate *ops = rows_of(k);
    FxpyTensor *self = self_of(args, n);
    fxs_applied applied = {0};
    bool needed = self && fxpy_tensor_meta(args[0])->requires_grad;
    if (!ops || apply(k, ops, k->c.meta, &applied) < 0)
        return NULL;
    if (ops->in_place && self && applied.result.tag == FXS_V_TENSOR &&
        applied.result.u.tensor != self->t) {
        become(self, applied.result.u.tensor);
        fxs_value_unref(&applied.result);
        return Py_NewRef(args[0]);
    }
    bool set = strcmp(k->f->name, "requires_grad_") == 0;
    if (self && !fxpy_grad_enabled && !set)
        self->t->requires_grad = needed; /* writing does not make it require grad */
    PyObject *result = fxpy_result(&k->c, &applied.result, applied.op->name);
    fxs_value_unref(&applied.result);
    return k->out && result ? write_out(k, result) : result;
}

/* ---- factories ---- */

static const fxs_value *argument(const call *k, size_t position, const char *name) {
    const fxs_value *v = fxs_value_item(&k->args, position);
    for (size_t i = 0; !v && i < fxs_value_len(&k->kwargs); i++)
        if (strcmp(fxs_value_text(fxs_value_key(&k->kwargs, i)), name) == 0)
            v = fxs_value_item(&k->kwargs, i);
    return v;
}

/* A number that a filling can carry; `otherwise` where it is not given. False: it is something
 * else. */
static bool number(const call *k, size_t position, const char *name, double otherwise,
                   double *out) {
    const fxs_value *v = argument(k, position, name);
    *out = !v                      ? otherwise
           : v->tag == FXS_V_FLOAT ? v->u.f
           : v->tag == FXS_V_INT   ? (double)v->u.i
           : v->tag == FXS_V_BOOL  ? v->u.b
                                   : 0;
    return !v || v->tag == FXS_V_FLOAT || v->tag == FXS_V_BOOL ||
           (v->tag == FXS_V_INT && (int64_t)*out == v->u.i && v->u.i >> 53 == v->u.i >> 63);
}

static bool made_fill(call *k, fxpy_fill *fill) {
    const char *name = k->f->name;
    *fill = (fxpy_fill){.kind = FXPY_FILL_CONSTANT};
    if (strstr(name, "full"))
        return number(k, *name == 'n' ? 2 : 1, "fill_value", 0, &fill->a);
    if (strstr(name, "ones"))
        fill->a = 1;
    if (strncmp(name, "rand", 4) == 0) {
        fill->kind = name[4] == 'n' ? FXPY_FILL_NORMAL : FXPY_FILL_UNIFORM;
        fill->b = 1;
        fill->seed = fxpy_next_seed(k->generator);
    }
    return true;
}

/* torch.set_default_dtype decides where neither dtype nor an example is given. */
static int add_default_dtype(call *k) {
    const char *name = k->f->name;
    fxs_value old = k->kwargs, key;
    const fxs_value *value = argument(k, 1, "fill_value");
    size_t n = fxs_value_len(&old);
    bool full = strcmp(name, "full") == 0;
    if (fxpy_default_dtype() == FXS_FLOAT32 || strstr(name, "_like") || k->f->method ||
        argument(k, SIZE_MAX, "dtype") || (full && (!value || value->tag != FXS_V_FLOAT)))
        return 0;
    if (fxs_make_dict(fxpy_ctx(), &k->arena, n + 1, &k->kwargs) != FXS_OK ||
        fxs_make_text(fxpy_ctx(), &k->arena, FXS_V_STR, "dtype", 5, &key) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    memcpy(k->kwargs.u.dict->pairs, old.u.dict->pairs, n * sizeof(fxs_pair));
    k->kwargs.u.dict->pairs[n].key = key;
    k->kwargs.u.dict->pairs[n].value =
        (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = fxpy_default_dtype()};
    return 0;
}

static PyObject *make(call *k, PyObject *const *args, Py_ssize_t n) {
    fxs_applied applied = {0};
    fxpy_fill fill;
    if (add_default_dtype(k) < 0)
        return NULL;
    if (!k->f->ops || k->out || !made_fill(k, &fill))
        return compute(k, args, n);
    if (apply(k, k->f->ops, true, &applied) < 0)
        return NULL;
    fxs_tensor *t = applied.result.u.tensor;
    if (k->c.meta) {
        PyObject *meta = fxpy_result(&k->c, &applied.result, NULL);
        fxs_value_unref(&applied.result);
        return meta;
    }
    PyObject *o = fxpy_tensor_new(t);
    if (!o)
        return NULL;
    FxpyTensor *x = (FxpyTensor *)o;
    if (!t->storage) {
        x->lazy = fxpy_lazy_new(t, &fill);
        if (!x->lazy)
            Py_CLEAR(o);
    }
    return o;
}

/* ---- filling and scaling what nobody has read ---- */

static bool fill_of(call *k, fxpy_fill *f) {
    char what = *k->f->name; /* zero_ fill_ uniform_ normal_ */
    *f = (fxpy_fill){.kind = FXPY_FILL_CONSTANT};
    if (what == 'z')
        return true;
    if (what == 'f')
        return argument(k, 1, "value") && number(k, 1, "value", 0, &f->a);
    f->seed = fxpy_next_seed(k->generator);
    f->kind = what == 'u' ? FXPY_FILL_UNIFORM : FXPY_FILL_NORMAL;
    if (what == 'u')
        return number(k, 1, "from", 0, &f->a) && number(k, 2, "to", 1, &f->b) && f->a <= f->b;
    return number(k, 1, "mean", 0, &f->a) && number(k, 2, "std", 1, &f->b) && f->b >= 0;
}

/* 1: done. 0: it has to be computed. */
static int fill(call *k, FxpyTensor *self) {
    fxpy_fill f;
    if (!self || !fxpy_tensor_unread(self) || !fxs_is_floating(self->t->dtype) || !fill_of(k, &f))
        return 0;
    int status = fxpy_lazy_patch(self->lazy, self->t, &f);
    return status < 0 ? -1 : status == 0;
}

static int scale(call *k, FxpyTensor *self) {
    double x;
    char what = *k->f->name;
    if (!self || !fxpy_tensor_unread(self) || fxs_value_len(&k->args) != 2 ||
        fxs_value_len(&k->kwargs) || !number(k, 1, "other", 0, &x))
        return 0;
    if (what == 'm' || what == 'd')
        return fxpy_lazy_affine(self->lazy, self->t, what == 'd' ? 1 / x : x, 0);
    return fxpy_lazy_affine(self->lazy, self->t, 1, what == 's' ? -x : x);
}

/* ---- views of what nobody has read ---- */

/* Stands for the memory that is not there, so that a view can be told from a new tensor. */
static fxs_storage nowhere;

static bool all_views(void *user, const fxs_value *v) {
    (void)user;
    return v->tag != FXS_V_TENSOR || v->u.tensor->storage == &nowhere;
}

static bool leave(void *user, const fxs_value *v) {
    (void)user;
    if (v->tag == FXS_V_TENSOR && v->u.tensor->storage == &nowhere)
        v->u.tensor->storage = NULL;
    return true;
}

/* NULL without an exception: it is no view, and has to be computed. */
static PyObject *view(call *k, FxpyTensor *self) {
    fxs_applied applied = {0};
    PyObject *out = NULL;
    nowhere.refs = 1 << 30;
    self->t->storage = &nowhere;
    int bad = apply(k, k->f->ops, true, &applied);
    bool good = !bad && fxs_value_visit(&applied.result, all_views, NULL);
    if (!bad)
        fxs_value_visit(&applied.result, leave, NULL);
    self->t->storage = NULL;
    if (good) {
        k->c.unread = self;
        out = fxpy_result(&k->c, &applied.result, applied.op->name);
    }
    fxs_value_unref(&applied.result);
    return out;
}

static PyObject *clone_unread(FxpyTensor *self) {
    fxs_tensor *t;
    if (fxs_tensor_make(fxpy_ctx(), self->t->dtype, self->t->ndim, self->t->sizes, self->t->strides,
                        &t) != FXS_OK)
        return fxpy_raise();
    t->requires_grad = self->t->requires_grad && fxpy_grad_enabled;
    PyObject *o = fxpy_tensor_new(t);
    FxpyTensor *x = (FxpyTensor *)o;
    if (!o)
        return NULL;
    x->made_by = t->requires_grad ? "clone" : NULL;
    x->lazy = fxpy_lazy_copy(self->lazy);
    if (!x->lazy)
        Py_CLEAR(o);
    return o;
}

static bool others_are_plain(PyObject *const *args, Py_ssize_t n) {
    for (Py_ssize_t i = 1; i < n; i++)
        if (fxpy_is_tensor(args[i]))
            return false;
    return true;
}

/* What can be done without reading; NULL without an exception: it has to be computed. */
static PyObject *unread(call *k, PyObject *const *args, Py_ssize_t n) {
    FxpyTensor *self = self_of(args, n);
    unsigned char laziness = k->f->laziness;
    int done = 0;
    if (laziness == FXPY_LOOKS)
        return compute(k, args, n);
    if (!self || self->meta || !fxpy_tensor_unread(self))
        return NULL;
    if (laziness == FXPY_CLONES)
        return fxpy_lazy_whole(self->lazy, self->t) ? clone_unread(self) : NULL;
    if (laziness == FXPY_VIEWS)
        return k->f->ops && fxs_is_floating(self->t->dtype) && others_are_plain(args, n)
                   ? view(k, self)
                   : NULL;
    done = laziness == FXPY_FILLS ? fill(k, self) : scale(k, self);
    return done > 0 ? Py_NewRef(args[0]) : NULL;
}

/* Nothing reads a tensor that nobody has read, and results have shapes only. */
static bool meta_mode;

PyObject *fxpy_set_meta_mode(PyObject *self, PyObject *yes) {
    (void)self;
    bool before = meta_mode;
    meta_mode = PyObject_IsTrue(yes) == 1;
    return PyBool_FromLong(before);
}

static PyObject *eager(FxpyFunction *f, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    call k = {.f = f, .c = {.shapes_only = f->laziness != FXPY_READS || meta_mode}};
    PyObject *out = NULL;
    k.c.arena = &k.arena;
    k.c.meta = meta_mode && f->laziness != FXPY_MAKES;
    int bad = convert_call(&k, args, n, kwnames);
    if (!bad && f->laziness == FXPY_MAKES)
        out = make(&k, args, n);
    else if (!bad && f->laziness != FXPY_READS)
        out = unread(&k, args, n);
    if (!bad && !out && !PyErr_Occurred()) {
        if (f->laziness != FXPY_READS && !meta_mode) { /* once more, with values */
            fxpy_conversion_end(&k.c);
            k.c = (fxpy_conversion){.arena = &k.arena};
            bad = convert_call(&k, args, n, kwnames);
        }
        out = bad ? NULL : compute(&k, args, n);
    }
    fxpy_conversion_end(&k.c);
    fxs_arena_clear(&k.arena);
    return out;
}

/* ---- recording ---- */

PyObject *fxpy_find_proxy(PyObject *o, int depth) {
    PyObject *found = NULL, *key, *value;
    Py_ssize_t at = 0;
    if (fxpy_is_proxy(o))
        return o;
    if (depth <= 0 || !fxpy_proxy_type)
        return NULL;
    if (PyTuple_Check(o) || PyList_Check(o)) {
        for (Py_ssize_t i = 0; !found && i < PySequence_Fast_GET_SIZE(o); i++)
            found = fxpy_find_proxy(PySequence_Fast_ITEMS(o)[i], depth - 1);
    } else if (PyDict_Check(o)) {
        while (!found && PyDict_Next(o, &at, &key, &value))
            found = fxpy_find_proxy(value, depth - 1);
    } else if (PySlice_Check(o)) {
        PySliceObject *s = (PySliceObject *)o;
        found = fxpy_find_proxy(s->start, depth - 1);
        found = found ? found : fxpy_find_proxy(s->stop, depth - 1);
        found = found ? found : fxpy_find_proxy(s->step, depth - 1);
    }
    return found;
}

static PyObject *proxy_in(PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    PyObject *found = NULL;
    Py_ssize_t all = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    for (Py_ssize_t i = 0; fxpy_proxy_type && !found && i < all; i++)
        found = fxpy_find_proxy(args[i], 3);
    return found;
}

static PyObject *record(FxpyFunction *f, PyObject *proxy, PyObject *const *args, Py_ssize_t n,
                        PyObject *kwnames) {
    PyObject *tracer = PyObject_GetAttrString(proxy, "tracer"), *out = NULL;
    PyObject *tuple = PyTuple_New(n), *dict = PyDict_New();
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    int bad = !tracer || !tuple || !dict;
    for (Py_ssize_t i = 0; !bad && i < n; i++)
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; !bad && i < named; i++)
        bad = PyDict_SetItem(dict, PyTuple_GET_ITEM(kwnames, i), args[n + i]) < 0;
    if (!bad)
        out = f->method ? fxpy_record_method(tracer, f->name, tuple, dict)
                        : fxpy_record_function(tracer, (PyObject *)f, tuple, dict);
    Py_XDECREF(tracer);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return out;
}

PyObject *fxpy_call(FxpyFunction *f, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    PyObject *proxy = proxy_in(args, n, kwnames);
    if (proxy)
        return record(f, proxy, args, n, kwnames);
    return f->run ? f->run((PyObject *)f, args, n, kwnames) : eager(f, args, n, kwnames);
}

/* ---- calls from C ---- */

/* A function for the length of one call. */
static int function_for(const char *spelling, FxpyFunction *f) {
    *f = (FxpyFunction){.path = spelling, .name = strrchr(spelling, '.') + 1};
    f->method = strncmp(spelling, "Tensor.", 7) == 0;
    f->laziness = fxpy_laziness(f->name, f->method);
    if (fxs_registry_find(fxpy_ctx(), spelling, &f->ops) == FXS_OK)
        return 0;
    fxpy_raise();
    return -1;
}

PyObject *fxpy_call2(const char *spelling, PyObject *a, PyObject *b) {
    PyObject *args[] = {a, b};
    FxpyFunction f;
    return function_for(spelling, &f) < 0 ? NULL : eager(&f, args, b ? 2 : 1, NULL);
}

PyObject *fxpy_call_spelling(const char *spelling, PyObject *args, PyObject *kwargs) {
    FxpyFunction f;
    Py_ssize_t n = PyTuple_GET_SIZE(args), named = kwargs ? PyDict_GET_SIZE(kwargs) : 0, at = 0;
    PyObject *key, *value, *names = PyTuple_New(named), *out = NULL;
    PyObject **all = PyMem_New(PyObject *, (size_t)(n + named + 1));
    if (!names || !all || function_for(spelling, &f) < 0) {
        Py_XDECREF(names);
        PyMem_Free(all);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < n; i++)
        all[i] = PyTuple_GET_ITEM(args, i);
    for (Py_ssize_t i = 0; named && PyDict_Next(kwargs, &at, &key, &value); i++) {
        PyTuple_SET_ITEM(names, i, Py_NewRef(key));
        all[n + i] = value;
    }
    out = eager(&f, all, n, names);
    Py_DECREF(names);
    PyMem_Free(all);
    return out;
}
