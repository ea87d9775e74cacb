/* outline.c: the options that say how much of a large model is shown. Called by the commands that
 * show a model after its run. */
#include <stdlib.h>
#include <string.h>

#include "fxoutline.h"
#include "session.h"

/* A list of the options as the library wants it; NULL when memory is out. */
static const char **ended_list(const cli_list *list) {
    const char **items = calloc(list->len + 1, sizeof *items);
    if (items && list->len)
        memcpy(items, list->items, list->len * sizeof *items);
    return items;
}

static cli_exit outline(cli_session *w, const fxs_outline_options *how) {
    fxs_module *outlined = NULL;
    char *notes = NULL;
    fxs_status status = fxs_outline(w->model, how, &outlined, &notes);
    if (status != FXS_OK) {
        cli_exit e = cli_session_fail(w);
        return status == FXS_ENOTFOUND || status == FXS_EINVAL ? CLI_USAGE : e;
    }
    cli_tell_notes(notes);
    fxs_module_unref(w->model);
    w->model = outlined;
    return CLI_OK;
}

cli_exit cli_session_outline(cli_session *w, const cli_settings *s) {
    if (!s->depth && !s->collapse.len && !s->expand.len && !s->hide.len && !s->focus &&
        !s->only_tensors && !s->fold && !s->clusters)
        return CLI_OK;
    const char **collapse = ended_list(&s->collapse), **expand = ended_list(&s->expand),
               **hide = ended_list(&s->hide);
    cli_exit e = CLI_FAILURE;
    if (collapse && expand && hide)
        e = outline(w, &(fxs_outline_options){.depth = s->depth,
                                              .collapse = collapse,
                                              .expand = expand,
                                              .hide = hide,
                                              .focus = s->focus,
                                              .only_tensors = s->only_tensors,
                                              .fold = s->fold});
    else
        cli_error("out of memory");
    free(collapse);
    free(expand);
    free(hide);
    return e;
}
