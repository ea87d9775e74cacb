/* format.c: see format.h. The rules are torch.fx 1.13's, byte for byte. */
#include "emit/format.h"

#include <string.h>

#include "base/pytext.h"

static const fxs_repr with_nodes = {.node = fxs_node_put_name};

void fxs_buf_node_repr(fxs_buf *b, const fxs_value *v) { fxs_buf_repr(b, v, &with_nodes); }

fxs_status fxs_value_print(fxs_ctx *ctx, const fxs_value *v, char **text) {
    fxs_buf b = {0};
    fxs_buf_node_repr(&b, v);
    return fxs_buf_give(ctx, &b, text, NULL);
}

void fxs_buf_node_str(fxs_buf *b, const fxs_value *v) { fxs_buf_str(b, v, &with_nodes); }

static void format_items(fxs_buf *b, const fxs_value *v, char open, char close, int max) {
    size_t n = v->u.seq->len, shown = max > 0 && (size_t)max < n ? (size_t)max : n;
    fxs_buf_putc(b, open);
    for (size_t i = 0; i < shown; i++) {
        if (i)
            fxs_buf_puts(b, ", ");
        fxs_buf_arg(b, &v->u.seq->items[i], 0);
    }
    if (shown == 1 && v->tag == FXS_V_TUPLE)
        fxs_buf_putc(b, ',');
    if (shown < n)
        fxs_buf_printf(b, ", ...[total_len=%zu]", n);
    fxs_buf_putc(b, close);
}

static void format_dict(fxs_buf *b, const fxs_value *v) {
    fxs_buf_putc(b, '{');
    for (size_t i = 0; i < v->u.dict->len; i++) {
        if (i)
            fxs_buf_puts(b, ", ");
        fxs_buf_node_str(b, &v->u.dict->pairs[i].key);
        fxs_buf_puts(b, ": ");
        fxs_buf_arg(b, &v->u.dict->pairs[i].value, 0);
    }
    fxs_buf_putc(b, '}');
}

void fxs_buf_arg(fxs_buf *b, const fxs_value *v, int max_list_len) {
    switch (v->tag) {
    case FXS_V_LIST:
        format_items(b, v, '[', ']', max_list_len);
        break;
    case FXS_V_TUPLE:
        format_items(b, v, '(', ')', max_list_len);
        break;
    case FXS_V_DICT:
        format_dict(b, v);
        break;
    case FXS_V_NODE:
        fxs_buf_putc(b, '%');
        fxs_buf_puts(b, v->u.node->name);
        break;
    default:
        fxs_buf_node_str(b, v);
    }
}

void fxs_buf_node_args(fxs_buf *b, const fxs_node *n) {
    if (n->meta.spread && n->meta.spread->args)
        fxs_buf_puts(b, n->meta.spread->args);
    else
        fxs_buf_arg(b, &n->args, 0);
}

void fxs_buf_node_kwargs(fxs_buf *b, const fxs_node *n) {
    if (n->meta.spread && n->meta.spread->kwargs)
        fxs_buf_puts(b, n->meta.spread->kwargs);
    else
        fxs_buf_arg(b, &n->kwargs, 0);
}

/* As a line with quotes has values: repr, but nodes as in other lines; and what is only text says
 * so. */
static void node_in_line(const fxs_node *n, fxs_buf *b) {
    fxs_buf_putc(b, '%');
    fxs_buf_puts(b, n->name);
}

static void text_in_line(const fxs_value *v, fxs_buf *b) {
    fxs_buf_puts(b, "object(");
    fxs_buf_quoted(b, v->u.s->text, v->u.s->len);
    fxs_buf_putc(b, ')');
}

static const fxs_repr in_line = {.node = node_in_line, .opaque = text_in_line};

static void put_value(fxs_buf *b, const fxs_value *v, unsigned flags) {
    if (flags & FXS_LINE_QUOTED)
        fxs_buf_repr(b, v, &in_line);
    else
        fxs_buf_node_str(b, v);
}

static void put_word(fxs_buf *b, const char *s, bool quoted) {
    if (quoted)
        fxs_buf_quoted(b, s, strlen(s));
    else
        fxs_buf_puts(b, s);
}

static void put_args(fxs_buf *b, const fxs_node *n, unsigned flags) {
    bool quoted = flags & FXS_LINE_QUOTED;
    fxs_buf_puts(b, "(args = ");
    if (quoted)
        put_value(b, &n->args, flags);
    else
        fxs_buf_node_args(b, n);
    fxs_buf_puts(b, ", kwargs = ");
    if (quoted)
        put_value(b, &n->kwargs, flags);
    else
        fxs_buf_node_kwargs(b, n);
    fxs_buf_putc(b, ')');
}

/* Pieces in the place of one printf: a graph of a million nodes is printed a line at a time. */
static void put_head(fxs_buf *b, const fxs_node *n, unsigned flags) {
    fxs_buf_putc(b, '%');
    fxs_buf_puts(b, n->name);
    fxs_buf_puts(b, " : ");
    if (n->type && (n->type[0] || n->kind != FXS_PLACEHOLDER)) {
        put_word(b, n->type, flags & FXS_LINE_QUOTED && !fxs_is_plain_type(n->type));
        fxs_buf_putc(b, ' ');
    }
    fxs_buf_puts(b, flags & FXS_PRINT_TORCH2 ? "[num_users=" : "[#users=");
    fxs_buf_printf(b, "%zu", n->nusers);
    fxs_buf_puts(b, "] = ");
}

void fxs_buf_node_line(fxs_buf *b, const fxs_node *n, unsigned flags) {
    const fxs_value *first = fxs_value_item(&n->args, 0);
    if (n->kind == FXS_OUTPUT) {
        fxs_buf_puts(b, "return ");
        if (first)
            put_value(b, first, flags);
        return;
    }
    put_head(b, n, flags);
    fxs_buf_puts(b, fxs_kind_name(n->kind));
    fxs_buf_puts(b, "[target=");
    put_word(b, n->target, flags & FXS_LINE_QUOTED && !fxs_is_plain_target(n->target));
    fxs_buf_putc(b, ']');
    if (n->kind == FXS_PLACEHOLDER && first) {
        fxs_buf_puts(b, "(default=");
        put_value(b, first, flags);
        fxs_buf_putc(b, ')');
    } else if (n->kind != FXS_PLACEHOLDER && n->kind != FXS_GET_ATTR) {
        put_args(b, n, flags);
    }
}

void fxs_buf_layer_args(fxs_buf *b, const fxs_module *m) {
    if (m->extra) {
        fxs_buf_puts(b, m->extra);
        return;
    }
    size_t n = fxs_value_len(&m->args);
    for (size_t i = 0; i < n; i++) {
        if (i)
            fxs_buf_puts(b, ", ");
        fxs_buf_node_repr(b, fxs_value_item(&m->args, i));
    }
    for (size_t i = 0; i < fxs_value_len(&m->kwargs); i++) {
        if (n + i)
            fxs_buf_puts(b, ", ");
        fxs_buf_node_str(b, fxs_value_key(&m->kwargs, i));
        fxs_buf_putc(b, '=');
        fxs_buf_node_repr(b, fxs_value_item(&m->kwargs, i));
    }
}

void fxs_buf_layer(fxs_buf *b, const fxs_module *m) {
    fxs_buf_puts(b, m->class_name);
    fxs_buf_putc(b, '(');
    size_t at = b->len;
    fxs_buf_layer_args(b, m);
    if (m->nchildren)
        fxs_buf_puts(b, b->len > at ? ", ..." : "...");
    fxs_buf_putc(b, ')');
}

static void tensor_in_full(const fxs_tensor *t, fxs_buf *b) {
    fxs_buf_tensor(b, t);
    fxs_buf_puts(b, " stride=(");
    for (int i = 0; i < t->ndim; i++)
        fxs_buf_printf(b, i ? ", %lld" : "%lld", (long long)t->strides[i]);
    fxs_buf_printf(b, "%s) memory_format=%s requires_grad=%s", t->ndim == 1 ? "," : "",
                   fxs_memory_format_text(fxs_tensor_memory_format(t)),
                   t->requires_grad ? "True" : "False");
}

void fxs_buf_result(fxs_buf *b, const fxs_value *result) { fxs_buf_repr(b, result, &with_nodes); }

void fxs_buf_result_full(fxs_buf *b, const fxs_value *result) {
    fxs_buf_repr(b, result, &(fxs_repr){.node = fxs_node_put_name, .tensor = tensor_in_full});
}
