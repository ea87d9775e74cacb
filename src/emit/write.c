/* write.c: a module to a stream, in one of the forms that it is printed in. Called by users; the
 * printers are the other files here. */
#include <string.h>

#include "emit/format.h"
#include "fxtrace.h"

typedef fxs_status print_fn(const fxs_module *m, char **text, size_t *len);

static fxs_status graph(const fxs_module *m, char **text, size_t *len) {
    return fxs_graph_print(m->graph, 0, text, len);
}

static fxs_status tabular(const fxs_module *m, char **text, size_t *len) {
    return fxs_graph_print_tabular(m->graph, text, len);
}

static fxs_status whole_file(const fxs_module *m, char **text, size_t *len) {
    return fxs_module_print_file(m, 0, text, len);
}

static fxs_status code(const fxs_module *m, char **text, size_t *len) {
    return fxs_graph_python_code(m->graph, 0, text, len);
}

static fxs_status readable(const fxs_module *m, char **text, size_t *len) {
    return fxs_module_print_readable(m, FXS_CODE_SHAPES, text, len);
}

static fxs_status python(const fxs_module *m, char **text, size_t *len) {
    return fxs_module_python_file(m, 0, text, len);
}

static fxs_status table(const fxs_module *m, char **text, size_t *len) {
    return fxs_module_print_table(m, FXS_TABLE_TEXT, text, len);
}

static const struct {
    const char *name;
    print_fn *print;
    bool of_graph;
} forms[] = {
    {"graph", graph, true},      {"tabular", tabular, true}, {"modules", fxs_module_print, false},
    {"file", whole_file, false}, {"code", code, true},       {"readable", readable, true},
    {"python", python, true},    {"table", table, true}};

static fxs_status text_of(const fxs_module *m, const char *form, char **text, size_t *len) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].name, form) != 0)
            continue;
        if (forms[i].of_graph && !m->graph)
            return fxs_fail(m->ctx, FXS_EINVAL, "module %s has no graph", m->class_name);
        return forms[i].print(m, text, len);
    }
    return fxs_fail(m->ctx, FXS_ENOTFOUND, "there is no form '%s'", form);
}

fxs_status fxs_module_write(const fxs_module *m, const char *form, FILE *out) {
    char *text = NULL;
    size_t len = 0;
    FXS_TRY(fxs_need_text(m->ctx, form, "fxs_module_write: form"));
    FXS_TRY(text_of(m, form, &text, &len));
    bool whole = fwrite(text, 1, len, out) == len;
    /* Python's print ends the line; code itself ends in the blanks of its last one. */
    if (len && text[len - 1] != '\n')
        whole = putc('\n', out) != EOF && whole;
    fxs_free(text);
    return whole ? FXS_OK : fxs_fail(m->ctx, FXS_EIO, "%s can't be written", m->class_name);
}
