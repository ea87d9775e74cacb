/* html_facts.c: what the page's panel says about a node: every recorded fact, longer than a label
 * has room for. Called by canvas_html.c. One function a fact, in the table at the bottom; the page
 * knows how a number reads. */
#include <stdio.h>
#include <string.h>

#include "emit/facts.h"
#include "emit/format.h"
#include "html.h"
#include "ir/family.h"
#include "ir/spread.h"
#include "op/group.h"
#include "overlay.h"
#include "units.h"

enum { MAX_ITEMS = 64 };

/* X(NAME, name in the page) */
#define FACT_MAP(X)                                                                                \
    X(KIND, "kind")                                                                                \
    X(TARGET, "target")                                                                            \
    X(CLASS, "class")                                                                              \
    X(LAYER, "layer")                                                                              \
    X(TYPE, "type")                                                                                \
    X(ARGS, "args")                                                                                \
    X(KWARGS, "kwargs")                                                                            \
    X(OUTCOME, "outcome")                                                                          \
    X(MESSAGE, "message")                                                                          \
    X(RESULT, "result")                                                                            \
    X(STRIDE, "stride")                                                                            \
    X(MEMORY, "memory")                                                                            \
    X(PARAMS, "parameters")                                                                        \
    X(FLOPS, "FLOPs")                                                                              \
    X(READ, "bytes read")                                                                          \
    X(WRITTEN, "bytes written")                                                                    \
    X(TIME, "time")                                                                                \
    X(STATS, "statistics")                                                                         \
    X(BAD, "NaN and Inf")                                                                          \
    X(BEGINS, "NaN or Inf")                                                                        \
    X(FAMILY, "family")                                                                            \
    X(VALUE, "value")                                                                              \
    X(INSIDE, "nodes inside")                                                                      \
    X(TIMES, "equal blocks")                                                                       \
    X(WEIGHTS, "weights")                                                                          \
    X(NODES, "drawn for")                                                                          \
    X(INPUTS, "inputs")                                                                            \
    X(EACH, "of each")                                                                             \
    X(SOURCE, "source")                                                                            \
    X(MODULE, "module")

typedef enum fact {
#define X(name, text) FACT_##name,
    FACT_MAP(X)
#undef X
} fact;

typedef struct facts {
    fxs_html *h;
    const fxs_module *root;
    const fxs_node *node;
    size_t n;
    struct {
        fact fact;
        size_t text;
    } items[4 * MAX_ITEMS];
} facts;

enum { MAX_FACTS = 4 * MAX_ITEMS };

void fxs_html_fact_names(fxs_html *h) {
    static const char *const names[] = {
#define X(name, text) text,
        FACT_MAP(X)
#undef X
    };
    fxs_html_puts(h, "[");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fxs_html_puts(h, i ? "," : "");
        fxs_html_json(h, names[i], strlen(names[i]));
    }
    fxs_html_puts(h, "]");
}

/* What h->raw holds. */
static void put(facts *f, fact which) {
    size_t text = fxs_html_raw(f->h);
    if (f->n == MAX_FACTS)
        return;
    f->items[f->n].fact = which;
    f->items[f->n++].text = text;
}

static void put_text(facts *f, fact which, const char *s) {
    if (!s || !*s)
        return;
    fxs_buf_puts(&f->h->raw, s);
    put(f, which);
}

static void put_number(facts *f, fact which, double x) {
    if (!(x > 0))
        return;
    fxs_buf_printf(&f->h->raw, "%.15g", x);
    put(f, which);
}

/* ---- what it is ---- */

static void put_kind(facts *f) {
    const fxs_node *n = f->node;
    const fxs_module *m = n->kind == FXS_CALL_MODULE ? fxs_module_find(f->root, n->target) : NULL;
    put_text(f, FACT_KIND, fxs_kind_name(n->kind));
    put_text(f, FACT_TARGET, n->target);
    if (m)
        put_text(f, FACT_CLASS, n->meta.inside && n->type ? n->type : m->class_name);
    if (m && !n->meta.inside) {
        fxs_buf_node_layer(&f->h->raw, n, m);
        put(f, FACT_LAYER);
    }
    put_text(f, FACT_TYPE, n->meta.type_name);
    put_number(f, FACT_INSIDE, (double)n->meta.inside);
    put_number(f, FACT_TIMES, n->meta.times > 1 ? (double)n->meta.times : 0);
    if (n->meta.times > 1)
        put_text(f, FACT_WEIGHTS, fxs_sharing_word(n->meta.weights));
    put_number(f, FACT_NODES,
               n->meta.spread && n->meta.spread->nodes > 1 ? (double)n->meta.spread->nodes : 0);
    if (fxs_buf_node_inputs(&f->h->raw, n))
        put(f, FACT_INPUTS);
}

static void put_args(facts *f) {
    if (fxs_value_len(&f->node->args)) {
        fxs_buf_node_args(&f->h->raw, f->node);
        put(f, FACT_ARGS);
    }
    if (fxs_value_len(&f->node->kwargs)) {
        fxs_buf_node_kwargs(&f->h->raw, f->node);
        put(f, FACT_KWARGS);
    }
}

/* ---- what it gave ---- */

static void put_outcome(facts *f) {
    static const char *const words[FXS_OUTCOME_COUNT] = {
        [FXS_FAILED] = "failed", [FXS_UNKNOWN] = "unknown", [FXS_BLOCKED] = "blocked"};
    const fxs_meta *meta = &f->node->meta;
    put_text(f, FACT_OUTCOME, words[meta->outcome]);
    if (meta->outcome == FXS_BLOCKED && meta->culprit) {
        fxs_buf_printf(&f->h->raw, "needs the result of %s", meta->culprit->name);
        put(f, FACT_MESSAGE);
    } else {
        put_text(f, FACT_MESSAGE, meta->message);
    }
}

static void put_result(facts *f) {
    const fxs_value *v = &f->node->meta.result;
    if (f->node->meta.outcome != FXS_DONE)
        return;
    if (!fxs_result_is_split(v)) {
        fxs_buf_node_result(&f->h->raw, &f->node->meta);
        put(f, FACT_RESULT);
        return;
    }
    size_t n = fxs_value_len(v);
    for (size_t i = 0; i < n && i < MAX_ITEMS; i++) {
        fxs_buf_item_key(&f->h->raw, v, i);
        fxs_buf_puts(&f->h->raw, ": ");
        fxs_buf_range(&f->h->raw, fxs_range_item(fxs_meta_range(&f->node->meta), i),
                      fxs_buf_result);
        put(f, FACT_RESULT);
    }
    if (n > MAX_ITEMS) {
        fxs_buf_printf(&f->h->raw, "... %zu more", n - MAX_ITEMS);
        put(f, FACT_RESULT);
    }
}

typedef struct tensors {
    fxs_buf *text; /* a line each */
    size_t n;
} tensors;

static bool put_stride(void *user, const fxs_value *leaf) {
    tensors *k = user;
    if (leaf->tag == FXS_V_TENSOR && k->n++ < MAX_ITEMS) {
        fxs_buf_stride(k->text, leaf->u.tensor);
        fxs_buf_putc(k->text, '\n');
    }
    return true;
}

static void put_strides(fxs_buf *b, const fxs_value *v) {
    fxs_value_visit(v, put_stride, &(tensors){.text = b});
}

static void put_tensors(facts *f) {
    fxs_buf all = {0};
    if (f->node->meta.outcome != FXS_DONE)
        return;
    fxs_buf_range(&all, fxs_meta_range(&f->node->meta), put_strides);
    f->h->failed |= all.failed;
    for (const char *line = all.data; !all.failed && line && *line;) {
        size_t len = strcspn(line, "\n");
        fxs_buf_add(&f->h->raw, line, len);
        put(f, FACT_STRIDE);
        line += len + (line[len] == '\n');
    }
    fxs_buf_free(&all);
    put_number(f, FACT_MEMORY, fxs_result_bytes(&f->node->meta));
}

/* ---- what it cost, what is in it, where it is from ---- */

static void put_count(fxs_buf *b, double x) { fxs_put_grouped(b, (int64_t)x); }
static void put_flops(fxs_buf *b, double x) { fxs_put_unit(b, x, fxs_units_flops); }

/* What one of several has of a sum. */
static void put_each(facts *f, double least, double most, const char *what,
                     void (*number)(fxs_buf *b, double x)) {
    fxs_buf *raw = &f->h->raw;
    if (!(most > 0))
        return;
    fxs_buf_least_most(raw, least, most, number);
    fxs_buf_puts(raw, what);
    put(f, FACT_EACH);
}

static void put_costs(facts *f) {
    const fxs_meta *meta = &f->node->meta;
    put_number(f, FACT_PARAMS, (double)meta->parameters);
    put_number(f, FACT_FLOPS, meta->flops);
    put_number(f, FACT_READ, meta->bytes_read);
    put_number(f, FACT_WRITTEN, meta->bytes_written);
    put_number(f, FACT_TIME, f->h->times ? meta->seconds : 0);
    if (meta->spread) {
        put_each(f, (double)meta->spread->parameters[0], (double)meta->spread->parameters[1],
                 " parameters", put_count);
        put_each(f, meta->spread->flops[0], meta->spread->flops[1], "", put_flops);
    }
}

static void put_stats(facts *f) {
    const fxs_meta *meta = &f->node->meta;
    for (size_t i = 0; i < meta->nstats && i < MAX_ITEMS; i++) {
        const fxs_stats *s = &meta->stats[i];
        fxs_buf_printf(&f->h->raw, "min %.4g, max %.4g, mean %.4g, zeros %.3g%%", s->min, s->max,
                       s->mean, s->zeros * 100);
        put(f, FACT_STATS);
        if (!s->nan && !s->inf)
            continue;
        fxs_buf_printf(&f->h->raw, "%lld NaN, %lld Inf of %lld", (long long)s->nan,
                       (long long)s->inf, (long long)s->numel);
        put(f, FACT_BAD);
    }
}

/* What a box can be coloured by, beside its costs. */
static void put_colored(facts *f) {
    static const char *const begins[] = {NULL, "begins here", "from an input"};
    const fxs_meta *meta = &f->node->meta;
    bool none;
    fxs_group group;
    if (fxs_node_family(f->node, f->root, &none, &group) != FXS_OK)
        f->h->failed = true;
    else if (!none)
        put_text(f, FACT_FAMILY, fxs_group_text(group));
    put_text(f, FACT_BEGINS, begins[fxs_node_nonfinite(f->node)]);
    if (meta->has_overlay) {
        fxs_buf_printf(&f->h->raw, "%.15g", meta->overlay);
        put(f, FACT_VALUE);
    }
}

static void put_origin(facts *f) {
    fxs_place at = fxs_node_place(f->node);
    const fxs_scope *s = fxs_node_scope(f->node);
    if (at.file) {
        const char *name = strrchr(at.file, '/');
        fxs_buf_printf(&f->h->raw, "%s:%d", name ? name + 1 : at.file, at.line);
        put(f, FACT_SOURCE);
    }
    if (s) {
        fxs_buf_printf(&f->h->raw, "%s%s%s", s->path, *s->path ? " " : "", s->class_name);
        put(f, FACT_MODULE);
    }
}

void fxs_html_facts(fxs_html *h, const fxs_module *root, const fxs_node *n) {
    static void (*const all[])(facts *) = {put_kind,   put_args,    put_outcome,
                                           put_result, put_tensors, put_costs,
                                           put_stats,  put_colored, put_origin};
    facts f = {.h = h, .root = root, .node = n};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i](&f);
    fxs_html_int(h, (long long)f.n);
    for (size_t i = 0; i < f.n; i++) {
        fxs_html_int(h, f.items[i].fact);
        fxs_html_int(h, (long long)f.items[i].text);
    }
}
