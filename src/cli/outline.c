/* outline.c: the options that say how much of a large model is shown. Called by the commands that
 * show a model after its run. */
#include <stdlib.h>
#include <string.h>

#include "fxoutline.h"
#include "limit.h"
#include "session.h"

const char *const cli_fold_words[] = {"none", "auto", "equal", "similar", NULL};

/* A list of the options as the library wants it; NULL when memory is out. */
static const char **ended_list(const cli_list *list) {
    const char **items = calloc(list->len + 1, sizeof *items);
    if (items && list->len)
        memcpy(items, list->items, list->len * sizeof *items);
    return items;
}

/* ---- patterns ---- */

/* A class that the file's module tree names, else the file's name without its extension. */
static char *pattern_name(const fxs_module *m, const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *class_name = fxs_module_class(m), *dot = strrchr(base, '.');
    size_t len = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    return *class_name && strcmp(class_name, "GraphModule") != 0 ? strdup(class_name)
                                                                 : strndup(base, len);
}

static cli_exit read_pattern(cli_session *w, const char *path) {
    fxs_module *m = NULL;
    if (fxs_load(w->ctx, path, NULL, &m) != FXS_OK)
        return cli_session_fail(w);
    w->pattern_files[w->npatterns] = m;
    fxs_outline_pattern *p = &w->patterns[w->npatterns++];
    p->graph = fxs_module_graph(m);
    p->name = p->graph ? pattern_name(m, path) : NULL;
    if (!p->graph) {
        cli_error("%s: there is no graph in it to look for", path);
        return CLI_FAILURE;
    }
    return p->name ? CLI_OK : cli_no_memory();
}

cli_exit cli_session_patterns(cli_session *w, const cli_settings *s) {
    if (!s->patterns.len)
        return CLI_OK;
    w->patterns = calloc(s->patterns.len, sizeof *w->patterns);
    w->pattern_files = calloc(s->patterns.len, sizeof *w->pattern_files);
    cli_exit e = w->patterns && w->pattern_files ? CLI_OK : cli_no_memory();
    for (size_t i = 0; i < s->patterns.len && e == CLI_OK; i++)
        e = read_pattern(w, s->patterns.items[i]);
    return e;
}

void cli_session_free_patterns(cli_session *w) {
    for (size_t i = 0; i < w->npatterns; i++) {
        free((char *)w->patterns[i].name);
        fxs_module_unref(w->pattern_files[i]);
    }
    free(w->patterns);
    free(w->pattern_files);
}

/* ---- the outline ---- */

static cli_exit outline(cli_session *w, const fxs_outline_options *how, fxs_module **outlined,
                        bool told) {
    char *notes = NULL;
    cli_doing("making the outline");
    fxs_status status = fxs_outline(w->model, how, outlined, &notes);
    if (status != FXS_OK) {
        cli_exit e = cli_session_fail(w);
        return status == FXS_ENOTFOUND || status == FXS_EINVAL ? CLI_USAGE : e;
    }
    if (told)
        cli_tell_notes(notes);
    else
        fxs_free(notes);
    return CLI_OK;
}

void cli_session_free_outline(cli_session *w) {
    free((void *)w->shown.collapse);
    free((void *)w->shown.expand);
    free((void *)w->shown.hide);
    w->shown = (fxs_outline_options){0};
    fxs_module_unref(w->page);
    w->page = NULL;
}

static cli_exit read_options(cli_session *w, const cli_settings *s) {
    if (w->shown.collapse)
        return CLI_OK;
    w->shown = (fxs_outline_options){.depth = s->depth,
                                     .collapse = ended_list(&s->collapse),
                                     .expand = ended_list(&s->expand),
                                     .hide = ended_list(&s->hide),
                                     .focus = s->focus,
                                     .only_tensors = s->only_tensors,
                                     .fold = (fxs_fold)s->fold,
                                     .patterns = w->patterns,
                                     .npatterns = w->npatterns};
    return w->shown.collapse && w->shown.expand && w->shown.hide ? CLI_OK : cli_no_memory();
}

cli_exit cli_session_outline(cli_session *w, const cli_settings *s, bool modules) {
    if (!s->depth && !s->collapse.len && !s->expand.len && !s->hide.len && !s->focus &&
        !s->only_tensors && !s->fold && !modules && !w->npatterns)
        return CLI_OK;
    fxs_module *outlined = NULL;
    cli_exit e = read_options(w, s);
    if (e == CLI_OK)
        e = outline(w, &w->shown, &outlined, true);
    if (e != CLI_OK)
        return e;
    fxs_module_unref(w->model);
    w->model = outlined;
    return CLI_OK;
}

cli_exit cli_session_outline_page(cli_session *w, const cli_settings *s) {
    if (!s->depth && !s->collapse.len)
        return CLI_OK;
    cli_exit e = read_options(w, s);
    if (e != CLI_OK)
        return e;
    fxs_outline_options open = w->shown;
    open.depth = 0;
    open.collapse = open.expand = NULL;
    return outline(w, &open, &w->page, false);
}
