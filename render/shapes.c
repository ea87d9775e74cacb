/* shapes.c: what goes along an edge, as the edge's label: the sizes of the tensors, with the dtype
 * where it is not float32. Inside a run of blocks that are drawn once they are ranges; what leaves
 * it is the last block's. Of a box with several results nobody knows here which one an edge takes:
 * it says what they have in common, or nothing. Called by view.c. */
#include <string.h>

#include "emit/facts.h"
#include "escape.h"
#include "ir/spread.h"
#include "view.h"

enum { MOST = 3 }; /* tensors that are told one by one */

typedef struct shapes {
    fxs_buf text;
    size_t n, first; /* how many, and the length of the first one's text */
    const fxs_tensor *like;
    bool equal; /* all are like the first */
} shapes;

static bool same(const fxs_tensor *a, const fxs_tensor *b) {
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0;
}

static bool put_shape(void *user, const fxs_value *leaf) {
    shapes *s = user;
    if (leaf->tag != FXS_V_TENSOR)
        return true;
    const fxs_tensor *t = leaf->u.tensor;
    s->like = s->like ? s->like : t;
    s->equal = s->equal && same(s->like, t);
    if (s->n++ >= MOST)
        return true;
    if (s->n > 1)
        fxs_buf_puts(&s->text, ", ");
    if (t->dtype != FXS_FLOAT32)
        fxs_buf_printf(&s->text, "%s ", fxs_dtype_name(t->dtype));
    for (int i = 0; i < t->ndim; i++) /* a multiplication sign between */
        fxs_buf_printf(&s->text, i ? "\303\227%lld" : "%lld", (long long)t->sizes[i]);
    if (t->ndim == 0)
        fxs_buf_puts(&s->text, "scalar");
    s->first = s->n == 1 ? s->text.len : s->first;
    return true;
}

static void put_shapes(const fxs_meta *meta, const fxs_value *carried, shapes *s) {
    fxs_value_visit(carried, put_shape, s);
    if (s->n < 2)
        return;
    if (meta->inside || s->equal) {
        fxs_buf_cut(&s->text, s->equal ? s->first : 0);
        if (!meta->inside)
            fxs_buf_printf(&s->text, " (%zu tensors)", s->n);
    } else if (s->n > MOST) {
        fxs_buf_cut(&s->text, 0);
        fxs_buf_printf(&s->text, "%zu tensors", s->n);
    }
}

/* The text of one result, or of the item of it that an edge carries; in `arena`. NULL: memory is
 * out. */
static const char *text_of(fxs_arena *arena, const fxs_meta *meta, const fxs_value *v,
                           size_t item) {
    const fxs_value *part = fxs_value_item(v, item);
    shapes s = {.equal = true};
    put_shapes(meta, part ? part : v, &s);
    fxs_buf_add(&s.text, "", 0);
    const char *text = s.text.failed ? NULL : fxs_arena_dup(arena, s.text.data, s.text.len);
    fxs_buf_free(&s.text);
    return text;
}

/* The i-th of the results that go along an edge, of `n`: those of the last blocks of the `runs`
 * that it leaves, or, where they are not known one by one, the least and the greatest. */
static const fxs_value *carried(const fxs_meta *meta, size_t runs, size_t n, size_t i) {
    return n ? fxs_meta_leaves(meta, runs, i) : fxs_meta_extreme(meta, i == 1);
}

/* Where they are several, one text with ranges. */
static void put_node(fxs_buf *b, const fxs_meta *meta, size_t runs, size_t item) {
    size_t n = fxs_meta_leaving(meta, runs), most = n ? n : 2;
    fxs_arena scratch = {0};
    const char **texts = FXS_NEW_N(&scratch, const char *, most);
    b->failed = b->failed || !texts;
    for (size_t i = 0; i < most && !b->failed; i++) {
        texts[i] = text_of(&scratch, meta, carried(meta, runs, n, i), item);
        b->failed = !texts[i];
    }
    if (!b->failed)
        fxs_buf_ranges(b, texts, most);
    fxs_arena_clear(&scratch);
}

static bool label(fxs_view *v, fxs_view_edge *e) {
    const fxs_node *from = v->nodes[e->from].node, *to = v->nodes[e->to].node;
    const fxs_meta *meta = &from->meta;
    fxs_buf text = {0}, clean = {0};
    if (meta->outcome != FXS_DONE || !meta->has_tensor)
        return true;
    put_node(&text, meta, fxs_joins_blocks(to) ? 1 : fxs_runs_left(from, to->scope), e->item);
    if (text.len)
        fxs_clean(&clean, text.data, text.len, FXS_CELL_CHARS, false);
    fxs_buf_add(&clean, "", 0);
    bool ok = !text.failed && !clean.failed;
    fxs_line *l = &e->label;
    if (ok) {
        l->text = fxs_arena_dup(&v->arena, clean.data, clean.len);
        l->len = clean.len;
        ok = l->text && fxs_fonts_width(v->fonts, FXS_INK_KEY, l->text, l->len, &l->width);
    }
    fxs_buf_free(&text);
    fxs_buf_free(&clean);
    return ok;
}

bool fxs_view_label_edges(fxs_view *v) {
    for (size_t i = 0; i < v->nedges; i++)
        if (!label(v, &v->edges[i]))
            return false;
    return true;
}
