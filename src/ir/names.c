/* names.c: node names as torch.fx 1.13 gives them. A name, once given, is never given again. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph.h"

/* Keywords of Python 3.11, its builtins, and the globals that torch.fx registers in every graph. Sorted. */
static const char *const illegal[] = {
    "ArithmeticError",
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
    "False",
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
    "None",
    "NoneType",
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
    "True",
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
    "and",
    "anext",
    "any",
    "as",
    "ascii",
    "assert",
    "async",
    "await",
    "bin",
    "bool",
    "break",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "class",
    "classmethod",
    "compile",
    "complex",
    "continue",
    "copyright",
    "credits",
    "def",
    "del",
    "delattr",
    "device",
    "dict",
    "dir",
    "divmod",
    "elif",
    "else",
    "enumerate",
    "eval",
    "except",
    "exec",
    "exit",
    "filter",
    "finally",
    "float",
    "for",
    "format",
    "from",
    "frozenset",
    "fx_pytree",
    "getattr",
    "global",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "if",
    "import",
    "in",
    "inf",
    "input",
    "int",
    "is",
    "isinstance",
    "issubclass",
    "iter",
    "lambda",
    "len",
    "license",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "nan",
    "next",
    "nonlocal",
    "not",
    "object",
    "oct",
    "open",
    "or",
    "ord",
    "pass",
    "pow",
    "print",
    "property",
    "pytree",
    "quit",
    "raise",
    "range",
    "repr",
    "return",
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
    "torch",
    "try",
    "tuple",
    "type",
    "vars",
    "while",
    "with",
    "yield",
    "zip",
};

static int compare_names(const void *key, const void *item) { return strcmp(key, *(const char *const *)item); }

static bool is_illegal(const char *name) {
    return bsearch(name, illegal, sizeof illegal / sizeof *illegal, sizeof *illegal, compare_names) != NULL;
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

/* Splits base_12 into its base and number; leading zeros are dropped, which shortens the name. */
static size_t split_number(char *name, size_t len, unsigned long long *number) {
    size_t digits = len;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    *number = 0;
    if (digits == len || digits < 1 || name[digits - 1] != '_' || len - digits > 18)
        return len;
    *number = strtoull(name + digits, NULL, 10);
    snprintf(name + digits, 24, "%llu", *number);
    return digits - 1;
}

fxs_status fxs_name_create(fxs_graph *g, const char *candidate, size_t len, const char **out) {
    size_t n;
    char *name = legal_characters(&g->arena, candidate, len, &n);
    if (!name)
        return fxs_fail_memory(g->ctx);
    if (n == 0) { /* an error in 1.13; 2.x gives this name */
        name = fxs_arena_alloc_raw(&g->arena, 40, 1);
        if (!name)
            return fxs_fail_memory(g->ctx);
        n = (size_t)snprintf(name, 16, "_unnamed");
    }
    unsigned long long number;
    size_t base = split_number(name, n, &number);
    while (is_illegal(name) || fxs_map_at(&g->names, name, strlen(name)))
        snprintf(name + base, 24, "_%llu", ++number);
    if (!fxs_map_put(&g->names, name, strlen(name), g))
        return fxs_fail_memory(g->ctx);
    *out = name;
    return FXS_OK;
}

/* Python's __name__ of a callable: the last part of its qualified name, and for an overload of torch.ops both its name
 * and the overload's (torch.ops.aten.add.Tensor is add.Tensor). */
static const char *function_name(const char *target) {
    const char *dot = strrchr(target, '.');
    if (strncmp(target, "torch.ops.", 10) == 0) {
        const char *space = strchr(target + 10, '.');
        return space ? space + 1 : target + 10;
    }
    return dot ? dot + 1 : target;
}

fxs_status fxs_name_from_target(fxs_graph *g, fxs_kind kind, const char *target, const char **out) {
    if (kind == FXS_CALL_FUNCTION)
        target = function_name(target);
    size_t len = strlen(target);
    if (len >= 4 && memcmp(target, "__", 2) == 0 && memcmp(target + len - 2, "__", 2) == 0) {
        target += 2;
        len -= 4;
    }
    char *snake = fxs_arena_alloc_raw(&g->arena, 2 * len + 1, 1);
    size_t n = 0;
    if (!snake)
        return fxs_fail_memory(g->ctx);
    for (size_t i = 0; i < len; i++) {
        if (isupper((unsigned char)target[i]) && i && islower((unsigned char)target[i - 1]))
            snake[n++] = '_';
        snake[n++] = (char)tolower((unsigned char)target[i]);
    }
    return fxs_name_create(g, snake, n, out);
}
