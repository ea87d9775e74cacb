/* python_scope.c: names in generated code: the namespace of one printout, globals, and type
 * annotations. The rules are those of torch.fx 1.13's code generation. It knows objects by their
 * text only: two texts are two objects. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "emit/python.h"

static bool is_text(const char *s, size_t len, const char *text) {
    return strlen(text) == len && memcmp(s, text, len) == 0;
}

bool fxs_py_identifier(const char *s, size_t len) {
    char word[16]; /* no keyword is longer */
    if (len == 0 || isdigit((unsigned char)s[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return false;
    if (len >= sizeof word)
        return true;
    memcpy(word, s, len);
    word[len] = '\0';
    return fxs_name_reserved(word) != FXS_NAME_KEYWORD;
}

bool fxs_py_dotted(const char *s, size_t len) {
    for (size_t at = 0;; at++) {
        size_t n = 0;
        while (at + n < len && s[at + n] != '.')
            n++;
        if (!fxs_py_identifier(s + at, n))
            return false;
        at += n;
        if (at == len)
            return true;
    }
}

/* ---- the scope
 * ------------------------------------------------------------------------------------------- */

const char *fxs_py_unique(fxs_py *p, const char *candidate) {
    const char *name;
    if (fxs_name_unique(p->ctx, &p->arena, &p->used, candidate, strlen(candidate), false, &name) ==
        FXS_OK)
        return name;
    p->failed = true;
    return NULL;
}

static void add_global(fxs_py *p, const char *name, const char *object, size_t len, bool is_type) {
    if (p->nglobals == p->globals_cap) {
        size_t cap = p->globals_cap ? p->globals_cap * 2 : 16;
        fxs_py_global *grown = FXS_NEW_N(&p->arena, fxs_py_global, cap);
        if (!grown) {
            p->failed = true;
            return;
        }
        if (p->nglobals)
            memcpy(grown, p->globals, p->nglobals * sizeof *grown);
        p->globals = grown;
        p->globals_cap = cap;
    }
    char *kept = fxs_arena_dup(&p->arena, object, len);
    if (!kept || !fxs_map_put(&p->objects, kept, len, (void *)name)) {
        p->failed = true;
        return;
    }
    p->globals[p->nglobals++] = (fxs_py_global){.name = name, .object = kept, .is_type = is_type};
}

static void preset(fxs_py *p, const char *name, const char *object) {
    const char *unique;
    if (fxs_name_unique(p->ctx, &p->arena, &p->used, name, strlen(name), true, &unique) == FXS_OK)
        add_global(p, unique, object, strlen(object), false);
    else
        p->failed = true;
}

fxs_status fxs_py_init(fxs_py *p, const fxs_graph *g, unsigned flags) {
    *p = (fxs_py){.ctx = g->ctx, .flags = flags, .root = "self"};
    p->nodes = FXS_NEW_N(&p->arena, const char *, g->next_id);
    p->failed = !p->nodes && g->next_id;
    preset(p, "inf", "math.inf");
    preset(p, "nan", "math.nan");
    preset(p, "NoneType", "NoneType");
    preset(p, "torch", "torch");
    preset(p, "device", "torch.device");
    preset(p, "fx_pytree", "torch.fx._pytree");
    preset(p, "pytree", "torch.utils._pytree");
    return p->failed ? fxs_fail_memory(p->ctx) : FXS_OK;
}

static void keep_name(fxs_py *p, const char *name) {
    if (!fxs_map_put(&p->used, name, strlen(name), (void *)name))
        p->failed = true;
}

void fxs_py_next_function(fxs_py *p, const fxs_graph *g, const fxs_map *classes) {
    fxs_map_free(&p->used);
    p->used = (fxs_map){0};
    for (size_t i = 0; i < p->nglobals; i++)
        keep_name(p, p->globals[i].name);
    for (size_t i = 0; i < classes->cap; i++)
        if (classes->slots[i].key)
            keep_name(p, classes->slots[i].value);
    p->nodes = FXS_NEW_N(&p->arena, const char *, g->next_id);
    p->failed = p->failed || (!p->nodes && g->next_id);
}

void fxs_py_free(fxs_py *p) {
    fxs_map_free(&p->used);
    fxs_map_free(&p->objects);
    fxs_arena_clear(&p->arena);
}

void fxs_py_node(fxs_py *p, fxs_buf *b, const fxs_node *n) {
    const char **name = &p->nodes[n->id];
    if (!*name)
        *name = fxs_py_unique(p, n->name);
    if (*name)
        fxs_buf_puts(b, *name);
}

/* torch.fx writes what is from torch by its qualified name. Where that can't be
 * (torch.nn.init.<lambda>), it would be no code at all; a global is. */
static bool from_torch(const char *object, size_t len) {
    return len > 6 && memcmp(object, "torch.", 6) == 0 && !is_text(object, len, "torch.device") &&
           fxs_py_dotted(object, len);
}

static bool is_builtin(const char *s, size_t len) {
    char word[32];
    if (len >= sizeof word)
        return false;
    memcpy(word, s, len);
    word[len] = '\0';
    return fxs_name_reserved(word) == FXS_NAME_BUILTIN;
}

void fxs_py_object(fxs_py *p, fxs_buf *b, const char *object, size_t len, bool is_type) {
    if (from_torch(object, len)) {
        fxs_buf_add(b, object, len);
        return;
    }
    void **known = fxs_map_at(&p->objects, object, len);
    const char *name = known ? *known : NULL;
    if (!known) {
        if (fxs_name_unique(p->ctx, &p->arena, &p->used, object, len, is_builtin(object, len),
                            &name) != FXS_OK) {
            p->failed = true;
            return;
        }
        add_global(p, name, object, len, is_type);
    }
    fxs_buf_puts(b, name);
}

static const char *behind(const char *s, const char *prefix) {
    while (*prefix)
        if (*s++ != *prefix++)
            return NULL;
    return s;
}

void fxs_py_function(fxs_py *p, fxs_buf *b, const char *target) {
    static const char *const classes[] = {"itemgetter", "attrgetter", "methodcaller"};
    const char *builtin = behind(target, "builtins."), *own = behind(target, "operator.");
    if (builtin && is_builtin(builtin, strlen(builtin))) {
        fxs_py_object(p, b, builtin, strlen(builtin), false);
        return;
    }
    bool in_c = own != NULL; /* functions of operator say that they are _operator's */
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        in_c = in_c && strcmp(own, classes[i]) != 0;
    fxs_buf name = {0};
    fxs_buf_printf(&name, in_c ? "_%s" : "%s", target);
    if (name.failed)
        p->failed = true;
    else
        fxs_py_object(p, b, name.data, name.len, false);
    fxs_buf_free(&name);
}

/* ---- type annotations
 * ------------------------------------------------------------------------------------- */

static const char *const in_abc[] = {
    "AsyncGenerator", "AsyncIterable", "AsyncIterator",  "Awaitable",       "ByteString",
    "Callable",       "Collection",    "Container",      "Coroutine",       "Generator",
    "Hashable",       "ItemsView",     "Iterable",       "Iterator",        "KeysView",
    "Mapping",        "MappingView",   "MutableMapping", "MutableSequence", "MutableSet",
    "Reversible",     "Sequence",      "Sized",          "ValuesView",
};

/* What typing's other aliases stand for, where that is not typing's own name. */
static const char *const aliases[][2] = {
    {"AbstractSet", "collections.abc.Set"},
    {"AsyncContextManager", "contextlib.AbstractAsyncContextManager"},
    {"ChainMap", "collections.ChainMap"},
    {"ContextManager", "contextlib.AbstractContextManager"},
    {"Counter", "collections.Counter"},
    {"DefaultDict", "collections.defaultdict"},
    {"Deque", "collections.deque"},
    {"Match", "re.Match"},
    {"OrderedDict", "collections.OrderedDict"},
    {"Pattern", "re.Pattern"},
    {"Type", "type"},
};

/* Builtins that torch.fx 1.13 writes by typing's names; 2.x leaves them. */
static const char *const generic_builtins[][2] = {{"dict", "typing.Dict"},
                                                  {"frozenset", "typing.FrozenSet"},
                                                  {"list", "typing.List"},
                                                  {"set", "typing.Set"},
                                                  {"tuple", "typing.Tuple"}};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void put_origin(fxs_py *p, fxs_buf *b, const char *s, size_t len, bool subscripted) {
    if (subscripted && is_text(s, len, "typing.Optional")) {
        fxs_py_object(p, b, "typing.Union", 12, true);
        return;
    }
    for (size_t i = 0; i < COUNT(generic_builtins) && subscripted && !(p->flags & FXS_CODE_TORCH2);
         i++) {
        if (is_text(s, len, generic_builtins[i][0])) {
            fxs_py_object(p, b, generic_builtins[i][1], strlen(generic_builtins[i][1]), true);
            return;
        }
    }
    if (len > 7 && memcmp(s, "typing.", 7) == 0) {
        for (size_t i = 0; i < COUNT(aliases); i++) {
            if (is_text(s + 7, len - 7, aliases[i][0])) {
                fxs_py_object(p, b, aliases[i][1], strlen(aliases[i][1]), true);
                return;
            }
        }
        for (size_t i = 0; i < COUNT(in_abc); i++) {
            if (is_text(s + 7, len - 7, in_abc[i])) {
                char name[48];
                int n = snprintf(name, sizeof name, "collections.abc.%s", in_abc[i]);
                fxs_py_object(p, b, name, (size_t)n, true);
                return;
            }
        }
    }
    fxs_py_object(p, b, s, len, true);
}

/* Length of what stands before the next comma of this level, or before the end. */
static size_t item_len(const char *s, size_t len) {
    int depth = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '\'' || s[i] == '"') {
            const char *close = memchr(s + i + 1, s[i], len - i - 1);
            i = close ? (size_t)(close - s) : i;
        } else if (s[i] == '[' || s[i] == '(') {
            depth++;
        } else if (s[i] == ']' || s[i] == ')') {
            depth--;
        } else if (s[i] == ',' && depth == 0) {
            return i;
        }
    }
    return len;
}

/* Where the head of head[...] ends, when the text is that and nothing else; else 0. */
static size_t head_len(const char *s, size_t len) {
    const char *open = memchr(s, '[', len);
    if (!open || open == s || s[len - 1] != ']')
        return 0;
    size_t n = (size_t)(open - s);
    int depth = 0;
    for (size_t i = n; i + 1 < len; i++) {
        depth += s[i] == '[' ? 1 : s[i] == ']' ? -1 : 0;
        if (depth == 0)
            return 0;
    }
    return fxs_py_dotted(s, n) ? n : 0;
}

static void put_type(fxs_py *p, fxs_buf *b, const char *s, size_t len, int depth);

/* The items of head[...]; a list among them (Callable's parameters) is spread out, as in Python's
 * __args__. */
static void put_items(fxs_py *p, fxs_buf *b, const char *s, size_t len, int depth, bool *first) {
    for (size_t at = 0, n; at < len; at += n + 1) {
        while (at < len && s[at] == ' ')
            at++;
        n = item_len(s + at, len - at);
        if (n > 1 && s[at] == '[' && s[at + n - 1] == ']' && depth < FXS_MAX_DEPTH) {
            put_items(p, b, s + at + 1, n - 2, depth + 1, first);
        } else if (n) {
            if (!*first)
                fxs_buf_putc(b, ',');
            *first = false;
            put_type(p, b, s + at, n, depth + 1);
        }
    }
}

static void put_type(fxs_py *p, fxs_buf *b, const char *s, size_t len, int depth) {
    size_t head = depth < FXS_MAX_DEPTH ? head_len(s, len) : 0;
    if (is_text(s, len, "()")) {
        fxs_buf_puts(b, "()");
        return;
    }
    if (!head) {
        put_origin(p, b, s, len, false);
        return;
    }
    put_origin(p, b, s, head, true);
    const char *items = s + head + 1;
    size_t n = len - head - 2;
    if (n == 0 || is_text(items, n, "()")) /* typing.Tuple[()] has no arguments */
        return;
    bool first = true;
    fxs_buf_putc(b, '[');
    put_items(p, b, items, n, depth, &first);
    if (is_text(s, head, "typing.Optional")) {
        fxs_buf_putc(b, ',');
        fxs_py_object(p, b, "NoneType", 8, true);
    }
    fxs_buf_putc(b, ']');
}

void fxs_py_type(fxs_py *p, fxs_buf *b, const char *type) { put_type(p, b, type, strlen(type), 0); }
