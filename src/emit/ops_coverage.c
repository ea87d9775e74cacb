/* ops_coverage.c: which names of a list of PyTorch's names can be computed here: the operators'
 * spellings and the layers' classes. Called by `fxscope ops --coverage`. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mapping.h"
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

static bool covered(fxs_ctx *ctx, const char *name) {
    if (known(ctx, name))
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

fxs_status fxs_print_coverage(fxs_ctx *ctx, const char *path, char **text, size_t *len) {
    fxs_mapping *m;
    fxs_buf here = {0}, missing = {0};
    fxs_arena a = {0};
    size_t all = 0, found = 0, n;
    FXS_TRY(fxs_need_text(ctx, path, "fxs_print_coverage: path"));
    FXS_TRY(fxs_mapping_open(ctx, path, &m));
    const char *end = m->data + m->len, *s = m->data, *name;
    bool json = m->len && *s == '[';
    while ((s = next_name(s, end, json, &name, &n))) {
        char *copy = fxs_arena_dup(&a, name, n);
        if (!copy)
            break;
        bool have = covered(ctx, copy);
        fxs_buf_printf(have ? &here : &missing, "  %s\n", copy);
        all++;
        found += have;
    }
    fxs_status status = fxs_buf_status(ctx, &here);
    status = status ? status : fxs_buf_status(ctx, &missing);
    if (status == FXS_OK) {
        fxs_buf b = {0};
        fxs_buf_printf(&b, "covered:\n%snot operators or layers here:\n%s\n",
                       here.data ? here.data : "", missing.data ? missing.data : "");
        fxs_buf_printf(&b, "%zu names, %zu covered, %zu not\n", all, found, all - found);
        status = fxs_buf_give(ctx, &b, text, len);
    }
    fxs_buf_free(&here);
    fxs_buf_free(&missing);
    fxs_arena_clear(&a);
    fxs_mapping_unref(m);
    return status;
}
