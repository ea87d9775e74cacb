/* golden.h: the networks in tests/golden/models, put together as a user would: module tree,
 * declarations, graph. */
#ifndef FXS_TESTS_GOLDEN_H
#define FXS_TESTS_GOLDEN_H

#include <dirent.h>

#include "testing.h"

/* The whole file under tests/, NUL-terminated; free it. Fails the test when it is not there. */
static inline char *read_test_file(const char *relative, size_t *len) {
    const char *tests = getenv("FXS_TESTS");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", tests ? tests : "tests", relative);
    FILE *f = fopen(path, "rb");
    if (!f)
        fprintf(stderr, "%s is not there\n", path);
    assert_non_null(f);
    fxs_buf b = {0};
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        fxs_buf_add(&b, chunk, n);
    fclose(f);
    fxs_buf_add(&b, "", 0);
    if (len)
        *len = b.len;
    return b.data;
}

static inline char *read_golden(const char *name, const char *suffix, size_t *len) {
    char path[512];
    snprintf(path, sizeof path, "golden/models/%s%s", name, suffix);
    return read_test_file(path, len);
}

static inline char *sample_file(const char *name, size_t *len) {
    char path[512];
    snprintf(path, sizeof path, "../samples/%s.fx", name);
    return read_test_file(path, len);
}

/* params.tsv as declarations: "parameter bias: torch.float32[1]". */
static inline void add_declarations(fxs_buf *b, const char *name) {
    char *tsv = read_golden(name, ".params.tsv", NULL), *save = NULL;
    for (char *line = strtok_r(tsv, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *path = strchr(line, '\t'), *dtype = strchr(path + 1, '\t'),
             *sizes = strchr(dtype + 1, '\t');
        *path++ = *dtype++ = *sizes++ = '\0';
        fxs_buf_printf(b, "%s %s: torch.%s%s\n", line, path, dtype, sizes);
    }
    fxs_free(tsv);
}

/* The model file's text. */
static inline char *golden_file(const char *name, size_t *len) {
    fxs_buf b = {0};
    char *modules = read_golden(name, ".modules.txt", NULL),
         *graph = read_golden(name, ".graph.txt", NULL);
    fxs_buf_puts(&b, modules);
    add_declarations(&b, name);
    fxs_buf_puts(&b, graph);
    fxs_free(modules);
    fxs_free(graph);
    return fxs_buf_take(&b, len);
}

/* inputs.txt has lines such as float32[1, 3, 224, 224]. */
static inline fxs_inputs *golden_inputs(fxs_ctx *ctx, const char *name) {
    fxs_inputs *in;
    char *text = read_golden(name, ".inputs.txt", NULL), *save = NULL;
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char spec[256], *open = strchr(line, '['), *w = spec;
        *open = '\0';
        for (char *s = open + 1; *s && *s != ']'; s++)
            if (*s != ' ')
                *w++ = *s == ',' ? 'x' : *s;
        snprintf(w, sizeof spec - (size_t)(w - spec), ":%s", line);
        assert_ok(ctx, fxs_inputs_add(in, spec));
    }
    fxs_free(text);
    return in;
}

/* Calls fn for the name of every network there. Fails when there are none. */
static inline int for_each_golden(void (*fn)(const char *name, void *user), void *user) {
    const char *tests = getenv("FXS_TESTS");
    char path[512];
    struct dirent **list;
    int found = 0;
    snprintf(path, sizeof path, "%s/golden/models", tests ? tests : "tests");
    int n = scandir(path, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char *dot = strstr(list[i]->d_name, ".graph.txt");
        if (dot) {
            *dot = '\0';
            fn(list[i]->d_name, user);
            found++;
        }
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    assert_true(found > 0);
    return found;
}

#endif
