/* quoted.c: which lines of a graph need quotes to read back. torch.fx prints strings bare, and a
 * reader takes a word for what it most likely was: a file keeps what is meant, so that a string
 * that might be taken for something else makes its line one with quotes. Rather one line too many.
 */
#include <string.h>

#include "base/pytext.h"
#include "emit/format.h"

/* Words that are values, or that numbers begin with (a "nanj" is one). */
static bool is_value_word(const char *s, size_t len) {
    static const char *const words[] = {"None", "True", "False", "Ellipsis"}, *const begins[] = {
                                                                                  "inf", "nan",
                                                                                  "torch."};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == len && memcmp(words[i], s, len) == 0)
            return true;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (len >= strlen(begins[i]) && memcmp(begins[i], s, strlen(begins[i])) == 0)
            return true;
    return fxs_is_device(s, len);
}

static bool is_letter(char c) { return fxs_is_name_byte(c) && (c < '0' || c > '9'); }

/* "mean", "bij,bjk->bik": no blank, bracket or quote, nothing that ends a value. */
static bool is_plain_word(const char *s, size_t len) {
    static const char marks[] = ".,:->+*/=";
    if (!len || !is_letter(s[0]) || !fxs_is_name_byte(s[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)s[i] >= 0x80 ||
            (!fxs_is_name_byte(s[i]) && !memchr(marks, s[i], sizeof marks - 1)))
            return false;
    return !is_value_word(s, len);
}

/* Texts that stand for themselves up to the end of the line or a bracket. */
static bool has_control(const char *s, size_t len) {
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)s[i] < 0x20)
            return true;
    return false;
}

static bool is_plain(const fxs_value *v);

static bool items_are_plain(const fxs_value *v) {
    for (size_t i = 0; i < v->u.seq->len; i++)
        if (!is_plain(&v->u.seq->items[i]))
            return false;
    return true;
}

static bool is_plain(const fxs_value *v) {
    switch (v->tag) {
    case FXS_V_STR:
        return is_plain_word(v->u.s->text, v->u.s->len);
    case FXS_V_OPAQUE:
        return !has_control(v->u.s->text, v->u.s->len);
    case FXS_V_LIST:
    case FXS_V_TUPLE:
        return items_are_plain(v);
    case FXS_V_DICT:
        for (size_t i = 0; i < v->u.dict->len; i++)
            if (!is_plain(&v->u.dict->pairs[i].key) || !is_plain(&v->u.dict->pairs[i].value))
                return false;
        return true;
    default:
        return true;
    }
}

/* [target=...] ends at the bracket that fits. */
bool fxs_is_plain_target(const char *target) {
    int depth = 0;
    for (const char *s = target; *s; s++) {
        depth += (*s == '[') - (*s == ']');
        if (depth < 0)
            return false;
    }
    return depth == 0 && *target != '\'' && *target != '"' && !has_control(target, strlen(target));
}

/* What torch.fx writes for no type is no type. */
bool fxs_is_plain_type(const char *type) {
    size_t len = strlen(type);
    return !len ||
           (type[0] != ' ' && type[len - 1] != ' ' && type[0] != '\'' && type[0] != '"' &&
            !strstr(type, "[#users=") && !strstr(type, "[num_users=") && !has_control(type, len));
}

/* A word behind "return" may be the name of a node. */
static bool is_plain_output(const fxs_node *n, const fxs_value *v) {
    return v->tag != FXS_V_STR ||
           (is_plain(v) && !fxs_graph_named(n->graph, v->u.s->text, v->u.s->len));
}

bool fxs_needs_quotes(const fxs_node *n) {
    const fxs_value *first = fxs_value_item(&n->args, 0);
    if (n->kind == FXS_OUTPUT)
        return first && !is_plain_output(n, first);
    if (!fxs_is_plain_target(n->target) || (n->type && !fxs_is_plain_type(n->type)))
        return true;
    return !is_plain(&n->args) || !is_plain(&n->kwargs);
}
