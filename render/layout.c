/* layout.c: picks an engine by name or by the size of the graph, and falls back to the next one.
 * Called by draw.c; knows no engine but by its row. */
#include "layout.h"

#include <math.h>
#include <string.h>

#include "ranks.h"

static const fxs_engine *const engines[] = {&fxs_engine_layered, &fxs_engine_dot, NULL};

const char *fxs_engine_names(void) { return "auto, layered, dot"; }

static const fxs_engine *find_engine(const fxs_engine *const *list, const char *name) {
    for (; *list; list++)
        if (strcmp((*list)->name, name) == 0)
            return *list;
    return NULL;
}

bool fxs_engine_known(const char *name) {
    return !name || strcmp(name, "auto") == 0 || find_engine(engines, name);
}

/* One engine; a failure becomes a note that begins with its name. */
static fxs_status try_engine(const fxs_engine *e, const fxs_view *v, double seconds, fxs_scene *s,
                             fxs_buf *notes) {
    fxs_buf why = {0};
    fxs_status status = fxs_scene_new(v, s);
    if (status == FXS_OK)
        status = e->run(v, seconds, s, &why);
    if (status != FXS_OK) {
        fxs_scene_free(s);
        *s = (fxs_scene){.view = v};
        fxs_buf_printf(notes, "layout: %s: %s\n", e->name,
                       why.data ? why.data : fxs_status_text(status));
    }
    fxs_buf_free(&why);
    return status;
}

/* The last line of the notes becomes the error. */
static fxs_status fail_with_note(fxs_ctx *ctx, fxs_status s, const fxs_buf *notes) {
    if (notes->failed || !notes->len)
        return fxs_fail_memory(ctx);
    size_t end = notes->len - 1, at = end;
    while (at && notes->data[at - 1] != '\n')
        at--;
    return fxs_fail(ctx, s, "%.*s", (int)(end - at), notes->data + at);
}

static bool is_too_large(const fxs_engine *e, double size, double seconds, fxs_buf *notes) {
    double limit = e->limit * sqrt(seconds / 60);
    if (!e->limit || size <= limit)
        return false;
    fxs_buf_printf(
        notes, "layout: %s is not tried: it would hardly end within %g s (size %.0f, limit %.0f)\n",
        e->name, seconds, size, limit);
    return true;
}

/* The one that was asked for (NULL: none was), then the others of the list. */
static fxs_status try_in_turn(const fxs_engine *const *list, const fxs_engine *asked,
                              const fxs_view *v, double size, double seconds, fxs_scene *s,
                              fxs_buf *notes) {
    fxs_status status = asked ? try_engine(asked, v, seconds, s, notes) : FXS_ELIMIT;
    bool first = !asked;
    if (asked && status != FXS_ELIMIT && status != FXS_EIO)
        return status;
    for (; *list; list++) {
        if (*list == asked || is_too_large(*list, size, seconds, notes))
            continue;
        status =
            try_engine(*list, v, asked ? fmax(seconds, FXS_LAYOUT_SECONDS) : seconds, s, notes);
        if (status == FXS_OK && !first)
            fxs_buf_printf(notes, "layout: arranged by %s instead\n", (*list)->name);
        if (status == FXS_OK || status == FXS_ENOMEM)
            return status;
        first = false;
    }
    return status;
}

fxs_status fxs_layout(fxs_ctx *ctx, const fxs_view *v, const char *engine, double seconds,
                      const fxs_engine *const *list, fxs_scene *s, fxs_buf *notes) {
    *s = (fxs_scene){.view = v};
    list = list ? list : engines;
    bool any = !engine || strcmp(engine, "auto") == 0;
    const fxs_engine *asked = any ? NULL : find_engine(list, engine);
    if (!any && !asked)
        return fxs_fail(ctx, FXS_EINVAL, "there is no layout engine '%s' (known: %s)", engine,
                        fxs_engine_names());
    int *rank = fxs_alloc(v->nnodes, sizeof *rank);
    double size = rank && fxs_ranks(v, rank) >= 0 ? fxs_ranks_size(v, rank) : -1;
    fxs_free(rank);
    if (size < 0)
        return fxs_fail_memory(ctx);
    fxs_status status = try_in_turn(list, asked, v, size, seconds, s, notes);
    if (status != FXS_OK)
        return fail_with_note(ctx, status, notes);
    return fxs_scene_finish(s) == FXS_OK ? FXS_OK : fxs_fail_memory(ctx);
}
