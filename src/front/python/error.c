/* error.c: the context's error as a Python exception. Which class it is, torch decides: a type that
 * does not fit is a TypeError, an index an IndexError, nearly all else a RuntimeError. */
#include "front/python/fxpy.h"

static fxs_ctx *the_ctx;

fxs_ctx *fxpy_ctx(void) {
    if (!the_ctx)
        the_ctx = fxs_ctx_new();
    return the_ctx;
}

void fxpy_set_ctx(fxs_ctx *ctx) { the_ctx = ctx; }

/* ---- torch's words ---- */

/* What the library says behind "NAME: ", and what torch says. In `ours` a %s stands for a text up
 * to what follows it; in `theirs` %1 to %3 are those texts, %0 is NAME. */
static const struct {
    const char *ours, *theirs;
} words[] = {
    {"the size of tensor a (%s) must match the size of tensor b (%s) at dimension %s: ",
     "The size of tensor a (%1) must match the size of tensor b (%2) at non-singleton dimension "
     "%3"},
    {"the expanded size of the tensor (%s) must match the existing size (%s) at dimension %s: ",
     "The expanded size of the tensor (%1) must match the existing size (%2) at non-singleton "
     "dimension %3."},
    {"dimension %s is out of range: it must be in %s to %s\n",
     "Dimension out of range (expected to be in range of [%2, %3], but got %1)"},
    {"shape [%s] is invalid for input of size %s\n",
     "shape '[%1]' is invalid for input of size %2"},
    {"index %s is out of bounds for dimension %s with size %s\n",
     "index %1 is out of bounds for dimension %2 with size %3"},
    {"too many indices for tensor of dimension %s\n",
     "too many indices for tensor of dimension %1"},
    {"only integers, slices%s\n", "only integers, slices%1"},
    {"invalid index of a 0-dim tensor: %s\n",
     "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
     "to convert a 0-dim tensor to a number"},
    {"the shape of the mask %s at index %s does not match%s\n",
     "The shape of the mask %1 at index %2 does not match%3"},
    {"mat1 and mat2 shapes cannot be multiplied %s\n",
     "mat1 and mat2 shapes cannot be multiplied %1"},
    {"step must be greater than zero, not %s\n", "step must be greater than zero"},
    {"expected a non-empty list of Tensors\n", "torch.%0(): expected a non-empty list of Tensors"},
    {"tensors must have the same number of dimensions: got %s: ",
     "Tensors must have same number of dimensions: got %1"},
    {"argument 'self' must be %s\n", "%0(): argument 'input' (position 1) must be %1"},
    {"argument '%s' must be %s\n", "%0(): argument '%1' must be %2"},
    {"argument '%s' is missing\n", "%0() missing 1 required positional arguments: \"%1\""},
    {"unknown argument '%s'\n", "%0() got an unexpected keyword argument '%1'"},
    {"argument '%s' is given twice\n", "%0() got multiple values for argument '%1'"},
};

typedef struct part {
    const char *s;
    int n;
} part;

/* Whether text is the pattern, whose last character '\n' stands for the end of the text. */
static bool fits(const char *pattern, const char *text, part *parts) {
    for (int k = 1; *pattern; pattern++, text++) {
        if (*pattern == '\n')
            return *text == '\0';
        if (pattern[0] != '%') {
            if (*pattern != *text)
                return false;
            continue;
        }
        pattern += 2; /* behind %s: the text ends where the next literal begins */
        size_t literal = strcspn(pattern, "%\n");
        const char *end = text;
        while (*end && !(literal ? strncmp(end, pattern, literal) == 0 : false))
            end++;
        if (literal && !*end)
            return false;
        parts[k++] = (part){text, (int)(end - text)};
        pattern--;
        text = end - 1;
    }
    return true;
}

static void translate(const char *theirs, const part *parts, fxs_buf *out) {
    for (; *theirs; theirs++) {
        if (*theirs == '%') {
            const part *p = &parts[*++theirs - '0'];
            fxs_buf_add(out, p->s, (size_t)p->n);
        } else {
            fxs_buf_putc(out, *theirs);
        }
    }
}

/* The library's message as torch would say it; false: it stays as it is. */
static bool in_their_words(const char *message, fxs_buf *out) {
    const char *colon = strstr(message, ": ");
    part parts[4] = {{message, colon ? (int)(colon - message) : 0}};
    if (!colon || (size_t)parts[0].n != strspn(message, "abcdefghijklmnopqrstuvwxyz_0123456789"))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (fits(words[i].ours, colon + 2, parts)) {
            translate(words[i].theirs, parts, out);
            return !out->failed;
        }
    return false;
}

/* ---- the exception ---- */

/* Arguments that do not fit a signature are TypeErrors; dtypes that do not fit an operator are not.
 */
static bool about_arguments(const char *message) {
    return strstr(message, "argument") || strstr(message, "unsupported operand");
}

static PyObject *class_of(fxs_status s, const char *message) {
    switch (s) {
    case FXS_ETYPE:
        return about_arguments(message) ? PyExc_TypeError : PyExc_RuntimeError;
    case FXS_EINDEX:
        return PyExc_IndexError;
    case FXS_EUNKNOWN:
        return PyExc_NotImplementedError;
    case FXS_EIO:
        return PyExc_OSError;
    default:
        return strstr(message, "step must be greater") ? PyExc_ValueError : PyExc_RuntimeError;
    }
}

PyObject *fxpy_raise(void) {
    fxs_ctx *ctx = fxpy_ctx();
    const char *message = fxs_ctx_error(ctx);
    fxs_buf b = {0};
    if (!PyErr_Occurred())
        PyErr_SetString(class_of(fxs_ctx_status(ctx), message),
                        in_their_words(message, &b) ? b.data : message);
    fxs_buf_free(&b);
    fxs_ctx_clear(ctx);
    return NULL;
}
