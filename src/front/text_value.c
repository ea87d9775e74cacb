/* text_value.c: values as torch.fx prints them, back into values. Strings stand without quotes in
 * the arguments of a call, so that a word is taken for what it most likely was: None, a number, a
 * dtype, a device, else a string. What has no meaning here (range(0, 3), <function f at ...>) is
 * kept as text. */
#include <ctype.h>
#include <string.h>

#include "base/pytext.h"
#include "front/text.h"

/* ---- words
 * --------------------------------------------------------------------------------------------- */

static bool is(const char *s, size_t len, const char *text) {
    return strlen(text) == len && memcmp(s, text, len) == 0;
}

static bool torch_constant(const char *s, size_t len, fxs_value *out) {
    static const char *const layouts[] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                          "sparse_bsr", "sparse_bsc", "_mkldnn",    "jagged"};
    if (len <= 6 || memcmp(s, "torch.", 6) != 0)
        return false;
    if (fxs_dtype_find(s, len, &out->u.dtype)) {
        out->tag = FXS_V_DTYPE;
        return is(s + 6, len - 6,
                  fxs_dtype_name(out->u.dtype)); /* aliases are printed by their other name */
    }
#define X(name, text)                                                                              \
    if (is(s, len, text)) {                                                                        \
        out->tag = FXS_V_MEMORY_FORMAT;                                                            \
        out->u.format = FXS_##name;                                                                \
        return true;                                                                               \
    }
    FXS_MEMORY_FORMAT_MAP(X)
#undef X
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (is(s + 6, len - 6, layouts[i])) {
            out->tag = FXS_V_LAYOUT; /* the caller makes the text */
            return true;
        }
    }
    return false;
}

/* 2j, -1.5j, (2+3j) without its parentheses. */
static bool read_complex(const char *s, size_t len, double *c) {
    if (len < 2 || s[len - 1] != 'j')
        return false;
    c[0] = 0;
    if (fxs_read_float(s, len - 1, &c[1]))
        return true;
    for (size_t i = len - 2; i > 0; i--)
        if ((s[i] == '+' || s[i] == '-') && s[i - 1] != 'e')
            return fxs_read_float(s, i, &c[0]) && fxs_read_float(s + i, len - 1 - i, &c[1]);
    return false;
}

/* Text that is code or an object rather than a string: range(0, 3), tensor([1.]), b'by', <built-in
 * function add>, and integers beyond 64 bits. */
static bool looks_opaque(const char *s, size_t len) {
    size_t n = 0;
    if (len && s[0] == '<' && s[len - 1] == '>')
        return true;
    if (len > 6 && memcmp(s, "torch.", 6) == 0 &&
        fxs_word_len(s + 6) == len - 6) /* a qscheme, a dtype to come */
        return true;
    if (len > 2 && (s[0] == 'b' || s[0] == 'r') && (s[1] == '\'' || s[1] == '"') &&
        s[len - 1] == s[1])
        return true;
    while (n < len && (fxs_is_name_byte(s[n]) || s[n] == '.'))
        n++;
    if (n && n < len && s[n] == '(' && s[len - 1] == ')')
        return true;
    n = len && (s[0] == '-') ? 1 : 0;
    if (n == len)
        return false;
    while (n < len && isdigit((unsigned char)s[n]))
        n++;
    return n == len;
}

static bool simple_word(const char *s, size_t len, fxs_value *out) {
    int64_t i;
    double f, c[2];
    if (is(s, len, "None"))
        *out = fxs_none();
    else if (is(s, len, "True") || is(s, len, "False"))
        *out = fxs_bool(s[0] == 'T');
    else if (is(s, len, "Ellipsis") || is(s, len, "..."))
        *out = (fxs_value){.tag = FXS_V_ELLIPSIS};
    else if (fxs_read_int(s, len, &i) && s[0] != '+')
        *out = fxs_int(i);
    else if (s[0] != '+' && !looks_opaque(s, len) && fxs_read_float(s, len, &f))
        *out = fxs_float(f);
    else if (read_complex(s, len, c))
        *out = (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {c[0], c[1]}};
    else
        return false;
    return true;
}

/* A number that Python would write otherwise ("007", "1e5") was a string. */
static bool prints_as(const fxs_value *v, const char *s, size_t len) {
    fxs_buf b = {0};
    if (v->tag != FXS_V_INT && v->tag != FXS_V_FLOAT)
        return true;
    fxs_buf_repr(&b, v, &(fxs_repr){0});
    bool same = b.data && b.len == len && memcmp(b.data, s, len) == 0;
    fxs_buf_free(&b);
    return same;
}

bool fxs_text_node(fxs_text *t, const char *s, size_t len, fxs_value *out) {
    fxs_node *n = t->graph ? fxs_graph_named(t->graph, s, len) : NULL;
    if (n)
        *out = fxs_of_node(n);
    else if (t->graph && !t->complete && fxs_word_len(s) >= len)
        t->unknown = true;
    return n != NULL;
}

fxs_status fxs_text_word_value(fxs_text *t, fxs_notation how, const char *s, size_t len,
                               fxs_value *out) {
    if (len && simple_word(s, len, out) && (how != FXS_IN_CALL || prints_as(out, s, len)))
        return FXS_OK;
    if (torch_constant(s, len, out))
        return out->tag == FXS_V_LAYOUT ? fxs_make_text(t->ctx, t->arena, FXS_V_LAYOUT, s, len, out)
                                        : FXS_OK;
    if (how == FXS_IN_CALL && fxs_is_device(s, len))
        return fxs_make_text(t->ctx, t->arena, FXS_V_DEVICE, s, len, out);
    if (how == FXS_IN_REPR && fxs_text_node(t, s, len, out))
        return FXS_OK;
    bool string = (how == FXS_IN_CALL || how == FXS_IN_LAYER) && !looks_opaque(s, len);
    return fxs_make_text(t->ctx, t->arena, string ? FXS_V_STR : FXS_V_OPAQUE, s, len, out);
}

/* ---- extents
 * -------------------------------------------------------------------------------------------- */

static bool is_repr(fxs_notation how) { return how == FXS_IN_REPR || how == FXS_IN_QUOTED; }

static char closing(char open) {
    return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '\0';
}

/* The end of a bare word: a separator ", " or a bracket that closes what encloses it. Brackets and
 * (in repr) quotes inside the word are skipped. In a dict's key, ": " ends it too. */
static const char *word_end(const fxs_text *t, fxs_notation how, bool key) {
    char stack[FXS_MAX_DEPTH];
    int depth = 0;
    for (const char *s = t->at; s < t->end; s++) {
        if (depth == 0 && s[0] == ',' && (s[1] == ' ' || s[1] == ')' || s[1] == ']' || s[1] == '}'))
            return s;
        if (depth == 0 && is_repr(how) &&
            s[0] == ',') /* no word of a repr has one: "(x,1)" was edited by hand */
            return s;
        if (depth == 0 && key && s[0] == ':' && s[1] == ' ')
            return s;
        if (depth == 0 && is_repr(how) && s[0] == '\n')
            return s;
        if (closing(*s) && depth < FXS_MAX_DEPTH) {
            stack[depth++] = closing(*s);
        } else if (*s == ')' || *s == ']' || *s == '}') {
            if (depth == 0)
                return s;
            if (stack[depth - 1] == *s)
                depth--;
        } else if (how != FXS_IN_CALL && (*s == '\'' || *s == '"') && s > t->at &&
                   !fxs_is_name_byte(s[-1])) {
            const char *q = s + 1;
            while (q < t->end && *q != *s && *q != '\n')
                q += *q == '\\' && q + 1 < t->end ? 2 : 1;
            s = q < t->end ? q : t->end - 1;
        }
    }
    return t->end;
}

/* ---- quoted strings
 * --------------------------------------------------------------------------------------- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void put_code_point(fxs_buf *b, unsigned long c) {
    if (c < 0x80) {
        fxs_buf_putc(b, (char)c);
    } else if (c < 0x800) {
        fxs_buf_putc(b, (char)(0xc0 | c >> 6));
        fxs_buf_putc(b, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        fxs_buf_putc(b, (char)(0xe0 | c >> 12));
        fxs_buf_putc(b, (char)(0x80 | (c >> 6 & 63)));
        fxs_buf_putc(b, (char)(0x80 | (c & 63)));
    } else {
        fxs_buf_putc(b, (char)(0xf0 | c >> 18));
        fxs_buf_putc(b, (char)(0x80 | (c >> 12 & 63)));
        fxs_buf_putc(b, (char)(0x80 | (c >> 6 & 63)));
        fxs_buf_putc(b, (char)(0x80 | (c & 63)));
    }
}

/* Reads n hex digits behind \x, \u, \U. \udc80 to \udcff are bytes that are not UTF-8. */
static bool put_hex(fxs_buf *b, const char *s, int n) {
    unsigned long c = 0;
    for (int i = 0; i < n; i++) {
        if (hex_digit(s[i]) < 0)
            return false;
        c = c * 16 + (unsigned long)hex_digit(s[i]);
    }
    if (c > 0x10ffff)
        return false;
    if (c >= 0xdc80 && c <= 0xdcff)
        fxs_buf_putc(b, (char)(c - 0xdc00));
    else
        put_code_point(b, c);
    return true;
}

static size_t put_escape(fxs_buf *b, const char *s) {
    static const char from[] = "nrtabfv0'\"\\", to[] = "\n\r\t\a\b\f\v\0'\"\\";
    int digits = s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0;
    if (digits)
        return put_hex(b, s + 2, digits) ? (size_t)digits + 2 : 0;
    const char *known = s[1] ? strchr(from, s[1]) : NULL;
    if (!known)
        return 0;
    fxs_buf_putc(b, to[known - from]);
    return 2;
}

static fxs_status quoted(fxs_text *t, fxs_value *out) {
    const char *start = t->at;
    char quote = *t->at++;
    fxs_buf b = {0};
    while (t->at < t->end && *t->at != quote && *t->at != '\n') {
        if (*t->at == '\\') {
            size_t n = put_escape(&b, t->at);
            if (n == 0) {
                fxs_buf_free(&b);
                return fxs_text_fail(t, t->at, "this escape is not known");
            }
            t->at += n;
        } else {
            fxs_buf_putc(&b, *t->at++);
        }
    }
    if (t->at == t->end || *t->at != quote) {
        fxs_buf_free(&b);
        return fxs_text_fail(t, start, "this string has no closing quote");
    }
    t->at++;
    fxs_status s =
        b.failed ? fxs_fail_memory(t->ctx)
                 : fxs_make_text(t->ctx, t->arena, FXS_V_STR, b.data ? b.data : "", b.len, out);
    fxs_buf_free(&b);
    return s;
}

/* ---- containers
 * -------------------------------------------------------------------------------------------- */

enum { FEW_ITEMS = 4 };

typedef struct items {
    fxs_pair *more; /* NULL: they are in few */
    size_t n, cap;
    fxs_pair few[FEW_ITEMS]; /* values alone for sequences */
} items;

static void begin_items(items *list) {
    list->more = NULL;
    list->n = 0;
    list->cap = FEW_ITEMS;
}

static fxs_pair *pairs_of(items *list) { return list->more ? list->more : list->few; }

static fxs_status push(fxs_text *t, items *list, const fxs_pair *p) {
    if (list->n == list->cap) {
        fxs_pair *grown = fxs_realloc(list->more, list->cap * 2, sizeof *grown);
        if (!grown)
            return fxs_fail_memory(t->ctx);
        if (!list->more)
            memcpy(grown, list->few, sizeof list->few);
        list->more = grown;
        list->cap *= 2;
    }
    pairs_of(list)[list->n++] = *p;
    return FXS_OK;
}

static fxs_status finish_sequence(fxs_text *t, fxs_tag tag, items *list, fxs_value *out) {
    FXS_TRY(fxs_make_seq(t->ctx, t->arena, tag, list->n, out));
    for (size_t i = 0; i < list->n; i++)
        out->u.seq->items[i] = pairs_of(list)[i].value;
    return FXS_OK;
}

static fxs_status finish_dict(fxs_text *t, items *list, fxs_value *out) {
    FXS_TRY(fxs_make_dict(t->ctx, t->arena, list->n, out));
    if (list->n)
        memcpy(out->u.dict->pairs, pairs_of(list), list->n * sizeof *list->few);
    return FXS_OK;
}

/* A string with ", " inside reads as two words. Words with blanks are no values but prose or an
 * equation ("b h i d, b h j d
 * -> b h i j"), so two of them in a row were one string. */
static bool was_one_string(items *list, const fxs_value *next) {
    if (list->n == 0 || next->tag != FXS_V_STR)
        return false;
    const fxs_value *last = &pairs_of(list)[list->n - 1].value;
    return last->tag == FXS_V_STR && strchr(last->u.s->text, ' ') && strchr(next->u.s->text, ' ');
}

static fxs_status join_strings(fxs_text *t, items *list, const fxs_value *next) {
    fxs_value *last = &pairs_of(list)[list->n - 1].value;
    fxs_buf b = {0};
    fxs_buf_printf(&b, "%s, %s", last->u.s->text, next->u.s->text);
    fxs_status s = b.failed ? fxs_fail_memory(t->ctx)
                            : fxs_make_text(t->ctx, t->arena, FXS_V_STR, b.data, b.len, last);
    fxs_buf_free(&b);
    return s;
}

/* Behind the opening bracket; up to and with the closing one. *comma: the last item had a comma
 * behind it. */
static fxs_status sequence_items(fxs_text *t, fxs_notation how, char close, int depth, items *list,
                                 bool *comma) {
    const char *open = t->at - 1;
    *comma = false;
    while (*t->at != close) {
        fxs_pair p = {0};
        FXS_TRY(fxs_text_value(t, how, depth + 1, &p.value));
        if (how == FXS_IN_CALL && was_one_string(list, &p.value))
            FXS_TRY(join_strings(t, list, &p.value));
        else
            FXS_TRY(push(t, list, &p));
        *comma = *t->at == ',';
        if (*comma) {
            t->at++;
            if (*t->at == ' ') {
                t->at++;
                if (*t->at == close &&
                    how == FXS_IN_CALL) { /* ", )": the last item is an empty string */
                    FXS_TRY(fxs_make_text(t->ctx, t->arena, FXS_V_STR, "", 0, &p.value));
                    FXS_TRY(push(t, list, &p));
                    *comma = false;
                }
            }
        } else if (*t->at != close) {
            return t->at < t->end && *t->at != '\n'
                       ? fxs_text_expected(t, close == ')' ? "',' or ')'" : "',' or ']'")
                       : fxs_text_fail(t, open, "this '%c' is never closed", *open);
        }
    }
    t->at++;
    return FXS_OK;
}

static fxs_status sequence(fxs_text *t, fxs_notation how, int depth, fxs_value *out) {
    const char *start = t->at;
    bool list = *t->at == '[', comma;
    items it;
    begin_items(&it);
    t->at++;
    fxs_status s = sequence_items(t, how, list ? ']' : ')', depth, &it, &comma);
    if (s == FXS_OK && !list && it.n == 1 && !comma) {
        double c[2];
        size_t len = (size_t)(t->at - start);
        if (read_complex(start + 1, len - 2, c)) {
            *out = (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {c[0], c[1]}};
            fxs_free(it.more);
            return FXS_OK;
        }
        if (how == FXS_IN_CALL) /* a string that happens to be in parentheses */
            s = fxs_make_text(t->ctx, t->arena, FXS_V_STR, start, len, out);
        else
            *out = pairs_of(&it)[0].value;
    } else if (s == FXS_OK) {
        s = finish_sequence(t, list ? FXS_V_LIST : FXS_V_TUPLE, &it, out);
    }
    fxs_free(it.more);
    return s;
}

static fxs_status dict_key(fxs_text *t, fxs_notation how, int depth, fxs_value *out) {
    if (how != FXS_IN_CALL || *t->at == '(' || *t->at == '[')
        return fxs_text_value(t, how, depth, out);
    const char *end = word_end(t, how, true);
    fxs_status s = fxs_text_word_value(t, how, t->at, (size_t)(end - t->at), out);
    t->at = end;
    return s;
}

static fxs_status dict_items(fxs_text *t, fxs_notation how, int depth, items *list) {
    const char *open = t->at - 1;
    while (*t->at != '}') {
        fxs_pair p = {0};
        if (t->at >= t->end)
            return fxs_text_fail(t, open, "this '{' is never closed");
        FXS_TRY(dict_key(t, how, depth + 1, &p.key));
        if (!fxs_text_accept(t, ": "))
            return fxs_text_expected(t, "': ' behind a dict's key");
        FXS_TRY(fxs_text_value(t, how, depth + 1, &p.value));
        FXS_TRY(push(t, list, &p));
        if (!fxs_text_accept(t, ", ") && *t->at != '}')
            return fxs_text_expected(t, "',' or '}'");
    }
    t->at++;
    return FXS_OK;
}

static fxs_status dict(fxs_text *t, fxs_notation how, int depth, fxs_value *out) {
    items it;
    begin_items(&it);
    t->at++;
    fxs_status s = dict_items(t, how, depth, &it);
    if (s == FXS_OK)
        s = finish_dict(t, &it, out);
    fxs_free(it.more);
    return s;
}

/* slice(a, b, c): the parts are written as repr, also inside a call's arguments. */
static fxs_status slice(fxs_text *t, fxs_notation how, int depth, fxs_value *out) {
    const char *start = t->at;
    items it;
    bool comma;
    begin_items(&it);
    t->at += 6;
    how = how == FXS_IN_QUOTED ? how : FXS_IN_REPR;
    fxs_status s = sequence_items(t, how, ')', depth, &it, &comma);
    if (s == FXS_OK && it.n != 3)
        s = fxs_text_fail(t, start, "a slice has three parts, but here are %zu", it.n);
    if (s == FXS_OK)
        s = finish_sequence(t, FXS_V_SLICE, &it, out);
    fxs_free(it.more);
    return s;
}

static fxs_status size(fxs_text *t, fxs_notation how, int depth, fxs_value *out) {
    t->at += 11;
    FXS_TRY(fxs_text_value(t, how, depth + 1, out));
    if (out->tag != FXS_V_LIST || !fxs_text_accept(t, ")"))
        return fxs_text_expected(t, "torch.Size([...])");
    out->tag = FXS_V_TUPLE;
    out->u.seq->kind = FXS_TUPLE_SIZE;
    return FXS_OK;
}

/* device(type='cuda', index=0) */
static fxs_status device(fxs_text *t, fxs_value *out) {
    const char *start = t->at, *end = memchr(t->at, ')', (size_t)(t->end - t->at));
    t->at += 12;
    if (!end || end - t->at > 60 || (*t->at != '\'' && *t->at != '"'))
        return fxs_text_fail(t, start, "expected device(type='...', index=...)");
    size_t n = strcspn(t->at + 1, "'\")");
    const char *index = strstr(start, "index=");
    fxs_buf b = {0};
    fxs_buf_add(&b, t->at + 1, n);
    if (index && index < end)
        fxs_buf_printf(&b, ":%.*s", (int)(end - index - 6), index + 6);
    fxs_status s = b.failed ? fxs_fail_memory(t->ctx)
                            : fxs_make_text(t->ctx, t->arena, FXS_V_DEVICE, b.data, b.len, out);
    fxs_buf_free(&b);
    t->at = end + 1;
    return s;
}

static fxs_status node(fxs_text *t, fxs_value *out) {
    const char *start = t->at++;
    size_t n = fxs_word_len(t->at);
    if (n == 0)
        return fxs_text_expected(t, "a node's name behind '%'");
    *out = fxs_none();
    if (!fxs_text_node(t, t->at, n, out) && t->graph && t->complete)
        return fxs_text_fail(t, start, "there is no node %%%.*s in this graph", (int)n, t->at);
    t->at += n;
    return FXS_OK;
}

static bool starts(const fxs_text *t, const char *s) {
    size_t n = strlen(s);
    return (size_t)(t->end - t->at) >= n && memcmp(t->at, s, n) == 0;
}

/* object('<function f at 0x1>'): what is kept as text, in quotes. */
static bool is_object(const fxs_text *t) { return starts(t, "object('") || starts(t, "object(\""); }

static fxs_status object(fxs_text *t, fxs_value *out) {
    t->at += 7;
    FXS_TRY(quoted(t, out));
    out->tag = FXS_V_OPAQUE;
    return fxs_text_accept(t, ")") ? FXS_OK : fxs_text_expected(t, "')'");
}

fxs_status fxs_text_value(fxs_text *t, fxs_notation how, int depth, fxs_value *out) {
    *out = fxs_none();
    if (depth >= FXS_MAX_DEPTH)
        return fxs_text_fail(t, t->at, "brackets are nested deeper than %d", FXS_MAX_DEPTH);
    if (*t->at == '%' && (how == FXS_IN_CALL || how == FXS_IN_QUOTED) && fxs_is_name_byte(t->at[1]))
        return node(t, out);
    if (*t->at == '[' || *t->at == '(')
        return sequence(t, how, depth, out);
    if (*t->at == '{')
        return dict(t, how, depth, out);
    if (starts(t, "slice("))
        return slice(t, how, depth, out);
    if (starts(t, "torch.Size(["))
        return size(t, how, depth, out);
    if (starts(t, "device(type="))
        return device(t, out);
    if (how == FXS_IN_QUOTED && is_object(t))
        return object(t, out);
    if (how != FXS_IN_CALL && (*t->at == '\'' || *t->at == '"'))
        return quoted(t, out);
    const char *end = word_end(t, how, how != FXS_IN_CALL);
    if (end == t->end && how == FXS_IN_CALL)
        return fxs_text_fail(t, t->at,
                             "expected ',' or a closing bracket before the end of the file");
    fxs_status s = fxs_text_word_value(t, how, t->at, (size_t)(end - t->at), out);
    t->at = end;
    return s;
}

/* ---- a layer's arguments
 * -------------------------------------------------------------------------------------- */

static fxs_status layer_arguments(fxs_text *t, items *positional, items *named, bool *fits) {
    while (t->at < t->end) {
        fxs_pair p = {0};
        size_t n = fxs_word_len(t->at);
        bool keyword = n && t->at[n] == '=' && !isdigit((unsigned char)*t->at);
        if (keyword) {
            FXS_TRY(fxs_make_text(t->ctx, t->arena, FXS_V_STR, t->at, n, &p.key));
            t->at += n + 1;
        }
        FXS_TRY(fxs_text_value(t, FXS_IN_LAYER, 0, &p.value));
        FXS_TRY(push(t, keyword ? named : positional, &p));
        if (t->at < t->end && !fxs_text_accept(t, ", ")) {
            *fits = false;
            return FXS_OK;
        }
    }
    return FXS_OK;
}

fxs_status fxs_text_arguments(fxs_text *t, const char *s, size_t len, bool *fits, fxs_value *args,
                              fxs_value *kwargs) {
    fxs_text inner = *t;
    items positional, named;
    begin_items(&positional);
    begin_items(&named);
    char *copy = fxs_arena_dup(t->arena, s, len);
    if (!copy)
        return fxs_fail_memory(t->ctx);
    inner.begin = inner.at = copy;
    inner.end = copy + len;
    *fits = true;
    fxs_status status = layer_arguments(&inner, &positional, &named, fits);
    if (status == FXS_EPARSE) { /* the words of a class that prints no arguments */
        fxs_ctx_clear(t->ctx);
        *fits = false;
        status = FXS_OK;
    }
    if (status == FXS_OK && !*fits)
        positional.n = named.n = 0;
    if (status == FXS_OK)
        status = finish_sequence(t, FXS_V_TUPLE, &positional, args);
    if (status == FXS_OK)
        status = finish_dict(t, &named, kwargs);
    fxs_free(positional.more);
    fxs_free(named.more);
    return status;
}
