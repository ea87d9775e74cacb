/* names.c: node names as torch.fx 1.13 gives them. A name, once given, is never given again. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph.h"

/* Names that no node may have, sorted: keywords of Python 3.11, its other builtins, and the globals
 * that torch.fx registers in every graph. */
static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
static const char *const builtins[] = {"ArithmeticError",
                                       "AssertionError",
                                       "AttributeError",
                                       "BaseException",
                                       "BaseExceptionGroup",
                                       "BlockingIOError",
                                       "BrokenPipeError",
                                       "BufferError",
                                       "BytesWarning",
                                       "ChildProcessError",
                                       "ConnectionAbortedError",
                                       "ConnectionError",
                                       "ConnectionRefusedError",
                                       "ConnectionResetError",
                                       "DeprecationWarning",
                                       "EOFError",
                                       "Ellipsis",
                                       "EncodingWarning",
                                       "EnvironmentError",
                                       "Exception",
                                       "ExceptionGroup",
                                       "FileExistsError",
                                       "FileNotFoundError",
                                       "FloatingPointError",
                                       "FutureWarning",
                                       "GeneratorExit",
                                       "IOError",
                                       "ImportError",
                                       "ImportWarning",
                                       "IndentationError",
                                       "IndexError",
                                       "InterruptedError",
                                       "IsADirectoryError",
                                       "KeyError",
                                       "KeyboardInterrupt",
                                       "LookupError",
                                       "MemoryError",
                                       "ModuleNotFoundError",
                                       "NameError",
                                       "NotADirectoryError",
                                       "NotImplemented",
                                       "NotImplementedError",
                                       "OSError",
                                       "OverflowError",
                                       "PendingDeprecationWarning",
                                       "PermissionError",
                                       "ProcessLookupError",
                                       "RecursionError",
                                       "ReferenceError",
                                       "ResourceWarning",
                                       "RuntimeError",
                                       "RuntimeWarning",
                                       "StopAsyncIteration",
                                       "StopIteration",
                                       "SyntaxError",
                                       "SyntaxWarning",
                                       "SystemError",
                                       "SystemExit",
                                       "TabError",
                                       "TimeoutError",
                                       "TypeError",
                                       "UnboundLocalError",
                                       "UnicodeDecodeError",
                                       "UnicodeEncodeError",
                                       "UnicodeError",
                                       "UnicodeTranslateError",
                                       "UnicodeWarning",
                                       "UserWarning",
                                       "ValueError",
                                       "Warning",
                                       "ZeroDivisionError",
                                       "__build_class__",
                                       "__debug__",
                                       "__doc__",
                                       "__import__",
                                       "__loader__",
                                       "__name__",
                                       "__package__",
                                       "__spec__",
                                       "abs",
                                       "aiter",
                                       "all",
                                       "anext",
                                       "any",
                                       "ascii",
                                       "bin",
                                       "bool",
                                       "breakpoint",
                                       "bytearray",
                                       "bytes",
                                       "callable",
                                       "chr",
                                       "classmethod",
                                       "compile",
                                       "complex",
                                       "copyright",
                                       "credits",
                                       "delattr",
                                       "dict",
                                       "dir",
                                       "divmod",
                                       "enumerate",
                                       "eval",
                                       "exec",
                                       "exit",
                                       "filter",
                                       "float",
                                       "format",
                                       "frozenset",
                                       "getattr",
                                       "globals",
                                       "hasattr",
                                       "hash",
                                       "help",
                                       "hex",
                                       "id",
                                       "input",
                                       "int",
                                       "isinstance",
                                       "issubclass",
                                       "iter",
                                       "len",
                                       "license",
                                       "list",
                                       "locals",
                                       "map",
                                       "max",
                                       "memoryview",
                                       "min",
                                       "next",
                                       "object",
                                       "oct",
                                       "open",
                                       "ord",
                                       "pow",
                                       "print",
                                       "property",
                                       "quit",
                                       "range",
                                       "repr",
                                       "reversed",
                                       "round",
                                       "set",
                                       "setattr",
                                       "slice",
                                       "sorted",
                                       "staticmethod",
                                       "str",
                                       "sum",
                                       "super",
                                       "tuple",
                                       "type",
                                       "vars",
                                       "zip"};
static const char *const registered[] = {"NoneType", "device", "fx_pytree", "inf",
                                         "nan",      "pytree", "torch"};

static int compare_names(const void *key, const void *item) {
    return strcmp(key, *(const char *const *)item);
}

static bool is_in(const char *name, const char *const *table, size_t n) {
    return bsearch(name, table, n, sizeof *table, compare_names) != NULL;
}

fxs_reserved fxs_name_reserved(const char *name) {
    if (is_in(name, keywords, sizeof keywords / sizeof *keywords))
        return FXS_NAME_KEYWORD;
    if (is_in(name, builtins, sizeof builtins / sizeof *builtins))
        return FXS_NAME_BUILTIN;
    return is_in(name, registered, sizeof registered / sizeof *registered) ? FXS_NAME_GLOBAL
                                                                           : FXS_NAME_FREE;
}

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Each run of other characters becomes one '_'; a leading digit gets one in front. */
static char *legal_characters(fxs_arena *a, const char *s, size_t len, size_t *out_len) {
    char *name = fxs_arena_alloc_raw(a, len + 2 + 24, 1); /* room for a number behind */
    size_t n = 0;
    if (!name)
        return NULL;
    if (len && s[0] >= '0' && s[0] <= '9')
        name[n++] = '_';
    for (size_t i = 0; i < len;) {
        if (is_word(s[i])) {
            name[n++] = s[i++];
            continue;
        }
        name[n++] = '_';
        while (i < len && !is_word(s[i]))
            i++;
    }
    name[n] = '\0';
    *out_len = n;
    return name;
}

/* "_12" at the end of a name: its length. (printf takes a third of a name's time.) */
static size_t put_number(char *end, unsigned long long number) {
    char digits[24];
    size_t n = 0, len = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    end[len++] = '_';
    while (n)
        end[len++] = digits[--n];
    end[len] = '\0';
    return len;
}

/* Where the digits at the end begin. */
static size_t before_digits(const char *name, size_t len) {
    while (len > 0 && name[len - 1] >= '0' && name[len - 1] <= '9')
        len--;
    return len;
}

/* Splits base_12 into its base and number; leading zeros are dropped, which shortens the name. */
static size_t split_number(char *name, size_t len, unsigned long long *number) {
    size_t digits = before_digits(name, len);
    *number = 0;
    if (digits == len || digits < 1 || name[digits - 1] != '_' || len - digits > 18)
        return len;
    *number = strtoull(name + digits, NULL, 10);
    if (name[digits] == '0')
        put_number(name + digits - 1, *number);
    return digits - 1;
}

/* No reserved name ends in a digit. */
static bool may_be_reserved(const char *name, size_t len) {
    return len && (name[len - 1] < '0' || name[len - 1] > '9');
}

static bool is_taken(const fxs_map *used, const char *name, size_t len, bool own) {
    return fxs_map_at(used, name, len) ||
           (!own && may_be_reserved(name, len) && fxs_name_reserved(name));
}

/* Counts on until the name is free. Names are never released, so that numbers that were passed over
 * once need not be tried again: where the search for a candidate ended is kept under the candidate
 * and a '#', which is in no name. */
static bool next_free(fxs_arena *a, fxs_map *used, char *name, size_t base,
                      unsigned long long number, bool own) {
    size_t len = strlen(name), end;
    char *key = fxs_arena_alloc_raw(a, len + 2, 1);
    if (!key)
        return false;
    memcpy(key, name, len);
    memcpy(key + len, "#", 2);
    void **seen = fxs_map_at(used, key, len + 1);
    if (seen)
        number = (uintptr_t)*seen;
    do
        end = base + put_number(name + base, ++number);
    while (is_taken(used, name, end, own));
    if (seen)
        *seen = (void *)(uintptr_t)number;
    return seen || fxs_map_put(used, key, len + 1, (void *)(uintptr_t)number);
}

/* Is it a name as it stands, should it be free? Most are: no character and no leading zero of its
 * number has to go. */
static bool is_whole(const char *s, size_t len) {
    size_t digits = before_digits(s, len);
    if (digits == 0 || (len - digits > 1 && s[digits - 1] == '_' && s[digits] == '0') ||
        (s[0] >= '0' && s[0] <= '9'))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_word(s[i]))
            return false;
    return true;
}

/* A whole name that is free is kept as it is; else *out is NULL. */
static fxs_status take_whole(fxs_ctx *ctx, fxs_arena *a, fxs_map *used, const char *name,
                             size_t len, bool own, void *holder, const char **out) {
    fxs_map_slot *slot = fxs_map_place(used, name, len);
    *out = NULL;
    if (!slot)
        return fxs_fail_memory(ctx);
    if (slot->key)
        return FXS_OK;
    const char *kept = fxs_arena_dup(a, name, len);
    if (!kept)
        return fxs_fail_memory(ctx);
    if (!own && may_be_reserved(kept, len) && fxs_name_reserved(kept))
        return FXS_OK;
    fxs_map_fill(used, slot, kept, holder ? holder : (void *)(uintptr_t)kept);
    *out = kept;
    return FXS_OK;
}

/* `holder` is what the map gives for the name; NULL: the name. */
static fxs_status name_for(fxs_ctx *ctx, fxs_arena *a, fxs_map *used, const char *candidate,
                           size_t len, bool own, void *holder, const char **out) {
    size_t n;
    if (is_whole(candidate, len)) {
        FXS_TRY(take_whole(ctx, a, used, candidate, len, own, holder, out));
        if (*out)
            return FXS_OK;
    }
    char *name = legal_characters(a, candidate, len, &n);
    if (!name)
        return fxs_fail_memory(ctx);
    if (n == 0) { /* an error in 1.13; 2.x gives this name */
        name = fxs_arena_alloc_raw(a, 40, 1);
        if (!name)
            return fxs_fail_memory(ctx);
        n = (size_t)snprintf(name, 16, "_unnamed");
    }
    unsigned long long number;
    size_t base = split_number(name, n, &number);
    if (is_taken(used, name, strlen(name), own) && !next_free(a, used, name, base, number, own))
        return fxs_fail_memory(ctx);
    if (!fxs_map_put(used, name, strlen(name), holder ? holder : name))
        return fxs_fail_memory(ctx);
    *out = name;
    return FXS_OK;
}

fxs_status fxs_name_unique(fxs_ctx *ctx, fxs_arena *a, fxs_map *used, const char *candidate,
                           size_t len, bool own, const char **out) {
    return name_for(ctx, a, used, candidate, len, own, NULL, out);
}

fxs_status fxs_name_create(fxs_node *n, const char *candidate, size_t len) {
    fxs_graph *g = n->graph;
    return name_for(g->ctx, &g->arena, &g->names, candidate, len, false, n, &n->name);
}

fxs_node *fxs_graph_named(const fxs_graph *g, const char *name, size_t len) {
    if (len == 0 || name[len - 1] == '#') /* of next_free: no node, but a number */
        return NULL;
    void **at = fxs_map_at(&g->names, name, len);
    return at ? *at : NULL;
}

/* Python's __name__ of a callable: the last part of its qualified name, and for an overload of
 * torch.ops both its name and the overload's (torch.ops.aten.add.Tensor is add.Tensor). */
static const char *function_name(const char *target) {
    const char *dot = strrchr(target, '.');
    if (strncmp(target, "torch.ops.", 10) == 0) {
        const char *space = strchr(target + 10, '.');
        return space ? space + 1 : target + 10;
    }
    return dot ? dot + 1 : target;
}

char *fxs_name_candidate(fxs_arena *a, fxs_kind kind, const char *target) {
    if (kind == FXS_CALL_FUNCTION)
        target = function_name(target);
    size_t len = strlen(target);
    if (len >= 4 && memcmp(target, "__", 2) == 0 && memcmp(target + len - 2, "__", 2) == 0) {
        target += 2;
        len -= 4;
    }
    char *snake = fxs_arena_alloc_raw(a, 2 * len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; snake && i < len; i++) {
        if (isupper((unsigned char)target[i]) && i && islower((unsigned char)target[i - 1]))
            snake[n++] = '_';
        snake[n++] = (char)tolower((unsigned char)target[i]);
    }
    if (snake)
        snake[n] = '\0';
    return snake;
}

fxs_status fxs_name_from_target(fxs_node *n) {
    const char *candidate = fxs_name_candidate(&n->graph->arena, n->kind, n->target);
    return candidate ? fxs_name_create(n, candidate, strlen(candidate))
                     : fxs_fail_memory(n->graph->ctx);
}
