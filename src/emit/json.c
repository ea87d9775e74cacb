/* json.c: the table as JSON, through jansson. Numbers that JSON can't say (nan, inf) are null. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/pytext.h"
#include "emit/facts.h"
#include "emit/table.h"

static json_t *real_or_null(double x) { return isfinite(x) ? json_real(x) : json_null(); }

/* Bytes that are not UTF-8 become U+FFFD: JSON has no other way. */
static json_t *text(const char *s, size_t len) {
    json_t *j = json_stringn(s, len);
    if (j)
        return j;
    fxs_buf b = {0};
    for (size_t i = 0; i < len;) {
        size_t n = fxs_utf8_len(s + i, len - i);
        if (n)
            fxs_buf_add(&b, s + i, n);
        else
            fxs_buf_puts(&b, "\xef\xbf\xbd");
        i += n ? n : 1;
    }
    j = b.failed ? NULL : json_stringn(b.data ? b.data : "", b.len);
    fxs_buf_free(&b);
    return j;
}

static json_t *line(const char *s) { return text(s, strlen(s)); }

static json_t *ints(int n, const int64_t *v) {
    json_t *a = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(a, json_integer(v[i]));
    return a;
}

static json_t *tensor(const fxs_tensor *t) {
    json_t *o = json_object();
    json_object_set_new(o, "dtype", json_string(fxs_dtype_name(t->dtype)));
    json_object_set_new(o, "shape", ints(t->ndim, t->sizes));
    json_object_set_new(o, "stride", ints(t->ndim, t->strides));
    json_object_set_new(o, "memory_format",
                        json_string(fxs_memory_format_text(fxs_tensor_memory_format(t))));
    json_object_set_new(o, "requires_grad", json_boolean(t->requires_grad));
    json_object_set_new(o, "is_quantized", json_boolean(fxs_is_quantized(t->dtype)));
    return o;
}

static json_t *repr(const fxs_value *v, bool plain) {
    fxs_buf b = {0};
    if (plain)
        fxs_buf_node_str(&b, v);
    else
        fxs_buf_node_repr(&b, v);
    json_t *j = b.failed ? NULL : text(b.data ? b.data : "", b.len);
    fxs_buf_free(&b);
    return j;
}

static json_t *value(const fxs_value *v) {
    json_t *a;
    switch (v->tag) {
    case FXS_V_NONE:
    case FXS_V_UNKNOWN:
        return json_null();
    case FXS_V_BOOL:
        return json_boolean(v->u.b);
    case FXS_V_INT:
        return json_integer(v->u.i);
    case FXS_V_FLOAT:
        return real_or_null(v->u.f);
    case FXS_V_STR:
        return text(v->u.s->text, v->u.s->len);
    case FXS_V_TENSOR:
        return tensor(v->u.tensor);
    case FXS_V_LIST:
    case FXS_V_TUPLE:
        a = json_array();
        for (size_t i = 0; i < fxs_value_len(v); i++)
            json_array_append_new(a, value(fxs_value_item(v, i)));
        return a;
    case FXS_V_DICT:
        a = json_object();
        for (size_t i = 0; i < fxs_value_len(v); i++) {
            json_t *key = repr(fxs_value_key(v, i), true);
            if (key)
                json_object_set_new(a, json_string_value(key), value(fxs_value_item(v, i)));
            json_decref(key);
        }
        return a;
    default:
        return repr(v, false);
    }
}

static json_t *stats(const fxs_meta *m) {
    json_t *a = json_array();
    for (size_t i = 0; i < m->nstats; i++) {
        const fxs_stats *s = &m->stats[i];
        json_t *o = json_object();
        json_object_set_new(o, "min", real_or_null(s->min));
        json_object_set_new(o, "max", real_or_null(s->max));
        json_object_set_new(o, "mean", real_or_null(s->mean));
        json_object_set_new(o, "zeros", real_or_null(s->zeros));
        json_object_set_new(o, "nan", json_integer(s->nan));
        json_object_set_new(o, "inf", json_integer(s->inf));
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *names(fxs_node *const *nodes, size_t n) {
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(a, line(nodes[i]->name));
    return a;
}

static const char *outcome_name(fxs_outcome o) {
    static const char *const outcomes[] = {
#define X(name, text) text,
        FXS_OUTCOME_MAP(X)
#undef X
    };
    return outcomes[o];
}

/* Of a node that is drawn for several: what one of them has, least and greatest. */
static json_t *spread(const fxs_spread *s) {
    json_t *o = json_object();
    json_object_set_new(o, "nodes", json_integer((json_int_t)s->nodes));
    json_object_set_new(o, "least", value(&s->least));
    json_object_set_new(o, "most", value(&s->most));
    if (s->layer)
        json_object_set_new(o, "layer", line(s->layer));
    json_object_set_new(
        o, "parameters",
        json_pack("[I,I]", (json_int_t)s->parameters[0], (json_int_t)s->parameters[1]));
    json_object_set_new(o, "flops", json_pack("[f,f]", s->flops[0], s->flops[1]));
    return o;
}

static void add_run(json_t *o, const fxs_meta *m) {
    json_object_set_new(o, "outcome", json_string(outcome_name(m->outcome)));
    if (m->message)
        json_object_set_new(o, "message", line(m->message));
    if (m->culprit)
        json_object_set_new(o, "culprit", line(m->culprit->name));
    if (m->outcome == FXS_NOT_RUN)
        return;
    json_object_set_new(o, "type", line(m->type_name));
    json_object_set_new(o, "has_tensor", json_boolean(m->has_tensor));
    json_object_set_new(o, "result", value(&m->result));
    json_object_set_new(o, "parameters", json_integer(m->parameters));
    json_object_set_new(o, "flops", real_or_null(m->flops));
    json_object_set_new(o, "bytes_read", real_or_null(m->bytes_read));
    json_object_set_new(o, "bytes_written", real_or_null(m->bytes_written));
    if (m->spread && m->spread->nodes > 1)
        json_object_set_new(o, "each", spread(m->spread));
    if (m->nstats) {
        json_object_set_new(o, "seconds", real_or_null(m->seconds));
        json_object_set_new(o, "stats", stats(m));
    }
}

static json_t *node(const fxs_node *n) {
    json_t *o = json_object();
    json_object_set_new(o, "name", line(n->name));
    json_object_set_new(o, "kind", json_string(fxs_kind_name(n->kind)));
    json_object_set_new(o, "target", line(n->target));
    json_object_set_new(o, "args", repr(&n->args, false));
    json_object_set_new(o, "kwargs", repr(&n->kwargs, false));
    json_object_set_new(o, "inputs", names(n->inputs, n->ninputs));
    json_object_set_new(o, "users", names(n->users, n->nusers));
    add_run(o, &n->meta);
    fxs_nonfinite what = fxs_node_nonfinite(n);
    if (what != FXS_FINITE)
        json_object_set_new(o, "nonfinite",
                            json_string(what == FXS_NONFINITE_FIRST ? "begins" : "inherited"));
    return o;
}

static int put_chunk(const char *data, size_t len, void *user) {
    fxs_buf_add(user, data, len);
    return ((fxs_buf *)user)->failed ? -1 : 0;
}

fxs_status fxs_put_json_table(const fxs_module *m, fxs_buf *b) {
    json_t *root = json_object(), *nodes = json_array();
    json_object_set_new(root, "model", line(m->class_name));
    json_object_set_new(root, "parameters", json_integer(fxs_module_parameter_count(m)));
    for (const fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n))
        json_array_append_new(nodes, node(n));
    bool whole =
        json_array_size(nodes) == m->graph->len; /* a lost node means that memory ran out */
    json_object_set_new(root, "nodes", nodes);
    int bad = root && whole ? json_dump_callback(root, put_chunk, b, JSON_INDENT(1)) : -1;
    fxs_buf_putc(b, '\n');
    json_decref(root);
    return bad || b->failed ? fxs_fail_memory(m->ctx) : FXS_OK;
}
