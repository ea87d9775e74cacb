/* ops_coverage.c: which names of a list of PyTorch's names can be computed here: the operators'
 * spellings and the layers' classes. Called by `fxscope ops --coverage`. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mapping.h"
#include "emit/ops_reasons.h"
#include "op/registry.h"

/* A name as people write it, and the start of what a graph calls it. */
static const char *const starts[][2] = {
    {"torch.linalg.", "torch._C._linalg.linalg_"},
    {"torch.fft.", "torch._C._fft.fft_"},
    {"torch.special.", "torch._C._special.special_"},
    {"torch.nn.functional.", "torch._C._nn."},
    {"torch.nn.functional.", "torch."},
    {"F.", "torch.nn.functional."},
    {"F.", "torch._C._nn."},
    {"F.", "torch."},
    {"torch.", "torch.functional."},
    {"torch.", "torch.nn.functional."},
    {"nn.", "torch.nn."},
};

static bool known(fxs_ctx *ctx, const char *name) {
    const fxs_candidate *found = NULL;
    const fxs_module_row *layer = NULL;
    const char *dot = strrchr(name, '.');
    bool is_layer = strncmp(name, "torch.nn.", 9) == 0 || strncmp(name, "nn.", 3) == 0;
    if (is_layer && dot && isupper((unsigned char)dot[1]))
        return fxs_registry_find_module(ctx, dot + 1, &layer) == FXS_OK && layer;
    return fxs_registry_find(ctx, name, &found) == FXS_OK && found;
}

/* Tensor.shape and the like are read by getattr: it is asked for them, of a tensor of complex
 * numbers, which has all of them. */
static bool is_attribute(fxs_ctx *ctx, const char *name) {
    const fxs_candidate *getattr = NULL;
    fxs_applied done = {0};
    fxs_arena scratch = {0};
    fxs_value args, pair[2];
    fxs_tensor *t = NULL;
    bool found = false;
    if (strncmp(name, "Tensor.", 7) != 0 ||
        fxs_registry_find(ctx, "builtins.getattr", &getattr) != FXS_OK || !getattr ||
        fxs_tensor_make(ctx, FXS_COMPLEX64, 2, (int64_t[]){2, 2}, NULL, &t) != FXS_OK)
        return false;
    pair[0] = fxs_of_tensor(t);
    if (fxs_make_text(ctx, &scratch, FXS_V_STR, name + 7, strlen(name + 7), &pair[1]) == FXS_OK &&
        fxs_make_seq(ctx, &scratch, FXS_V_TUPLE, 2, &args) == FXS_OK) {
        fxs_apply how = {.meta = true, .scratch = &scratch};
        fxs_value none = fxs_none();
        memcpy(args.u.seq->items, pair, sizeof pair);
        found = fxs_op_apply(ctx, getattr, &args, &none, &how, &done) == FXS_OK;
        fxs_value_unref(&done.result);
    }
    fxs_ctx_clear(ctx);
    fxs_tensor_unref(t);
    fxs_arena_clear(&scratch);
    return found;
}

static bool covered(fxs_ctx *ctx, const char *name) {
    if (known(ctx, name) || is_attribute(ctx, name))
        return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t n = strlen(starts[i][0]);
        fxs_buf b = {0};
        if (strncmp(name, starts[i][0], n) != 0)
            continue;
        fxs_buf_printf(&b, "%s%s", starts[i][1], name + n);
        bool found = !b.failed && known(ctx, b.data);
        fxs_buf_free(&b);
        if (found)
            return true;
    }
    return false;
}

/* The next name: in JSON the next text in quotes, else the first word of the next line. */
static const char *next_name(const char *s, const char *end, bool json, const char **name,
                             size_t *len) {
    while (s < end && (json ? *s != '"' : isspace((unsigned char)*s)))
        s++;
    if (json)
        s++;
    if (s >= end)
        return NULL;
    *name = s;
    while (s < end && (json ? *s != '"' : !isspace((unsigned char)*s)))
        s++;
    *len = (size_t)(s - *name);
    while (!json && s < end && *s != '\n')
        s++;
    return s + json;
}

/* What was found out of a list of names. */
typedef struct found {
    fxs_buf here, none, missing;
    size_t all, covered, no_operations;
} found;

static void put_name(fxs_ctx *ctx, found *f, const char *name) {
    const char *why = NULL;
    f->all++;
    if (covered(ctx, name)) {
        f->covered++;
        fxs_buf_printf(&f->here, "  %s\n", name);
    } else if ((why = fxs_no_operation(name))) {
        f->no_operations++;
        fxs_buf_printf(&f->none, "  %s: %s\n", name, why);
    } else {
        fxs_buf_printf(&f->missing, "  %s\n", name);
    }
}

static fxs_status print_found(fxs_ctx *ctx, const found *f, char **text, size_t *len) {
    const struct {
        const char *title;
        const fxs_buf *names;
    } parts[] = {{"covered", &f->here}, {"no operations", &f->none}, {"missing", &f->missing}};
    fxs_buf b = {0};
    for (int i = 0; i < 3; i++)
        FXS_TRY(fxs_buf_status(ctx, parts[i].names));
    for (int i = 0; i < 3; i++) {
        if (parts[i].names->data)
            fxs_buf_printf(&b, "%s:\n%s\n", parts[i].title, parts[i].names->data);
    }
    fxs_buf_printf(&b, "%zu names: %zu covered, %zu no operations, %zu missing\n", f->all,
                   f->covered, f->no_operations, f->all - f->covered - f->no_operations);
    return fxs_buf_give(ctx, &b, text, len);
}

fxs_status fxs_print_coverage(fxs_ctx *ctx, const char *path, char **text, size_t *len) {
    fxs_mapping *m;
    found f = {0};
    fxs_arena a = {0};
    size_t n;
    FXS_TRY(fxs_need_text(ctx, path, "fxs_print_coverage: path"));
    FXS_TRY(fxs_mapping_open(ctx, path, &m));
    const char *end = m->data + m->len, *s = m->data, *name;
    bool json = m->len && *s == '[';
    while ((s = next_name(s, end, json, &name, &n))) {
        char *copy = fxs_arena_dup(&a, name, n);
        if (!copy)
            break;
        put_name(ctx, &f, copy);
    }
    fxs_status status = print_found(ctx, &f, text, len);
    fxs_buf_free(&f.here);
    fxs_buf_free(&f.none);
    fxs_buf_free(&f.missing);
    fxs_arena_clear(&a);
    fxs_mapping_unref(m);
    return status;
}
