/* layout.c: picks an engine by name or by the size of the graph, and falls back to the next one.
 * Called by draw.c; knows no engine but by its row. */
#include "layout.h"

#include <math.h>
#include <string.h>
#include <time.h>

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

double fxs_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One engine; a failure becomes a note that begins with its name. */
static fxs_status try_engine(const fxs_engine *e, const fxs_view *v, double seconds, fxs_scene *s,
                             bool *late, fxs_buf *notes) {
    fxs_buf why = {0};
    double end = fxs_clock() + seconds;
    fxs_status status = fxs_scene_new(v, s);
    if (status == FXS_OK)
        status = e->run(v, seconds, s, &why);
    if (status != FXS_OK) {
        *late |= status == FXS_ELIMIT && fxs_clock() >= end;
        fxs_scene_free(s);
        *s = (fxs_scene){.view = v};
        fxs_buf_printf(notes, "layout: %s: %s\n", e->name,
                       why.data ? why.data : fxs_status_text(status));
    }
    fxs_buf_free(&why);
    return status;
}

/* What went wrong first is the error, and what was said of other engines follows: the note that
 * one is not even tried would tell nothing alone. */
static fxs_status fail_with_notes(fxs_ctx *ctx, fxs_status status, const fxs_view *v, bool late,
                                  const char *said, size_t len) {
    static const char head[] = "layout: ";
    fxs_buf text = {0};
    while (len) {
        const char *end = memchr(said, '\n', len);
        size_t n = end ? (size_t)(end - said) : len, skip = text.len ? sizeof head - 1 : 0;
        fxs_buf_printf(&text, "%s%.*s", text.len ? "; " : "", (int)(n - skip), said + skip);
        said += n + (end != NULL);
        len -= n + (end != NULL);
    }
    if (late)
        fxs_buf_printf(&text,
                       "; the graph has %zu nodes and %zu edges: show less of it (--depth, --fold, "
                       "--focus), or give the layout more time (layout_seconds, --layout-seconds)",
                       v->nnodes, v->nedges);
    status =
        text.failed || !text.len ? fxs_fail_memory(ctx) : fxs_fail(ctx, status, "%s", text.data);
    fxs_buf_free(&text);
    return status;
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
                              bool *late, fxs_buf *notes) {
    fxs_status status = asked ? try_engine(asked, v, seconds, s, late, notes) : FXS_ELIMIT;
    bool first = !asked;
    if (asked && status != FXS_ELIMIT && status != FXS_EIO)
        return status;
    for (; *list; list++) {
        if (*list == asked || is_too_large(*list, size, seconds, notes))
            continue;
        status = try_engine(*list, v, asked ? fmax(seconds, FXS_LAYOUT_SECONDS) : seconds, s, late,
                            notes);
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
    size_t before = notes->len;
    bool late = false;
    fxs_status status = try_in_turn(list, asked, v, size, seconds, s, &late, notes);
    if (status != FXS_OK)
        return notes->failed ? fxs_fail_memory(ctx)
                             : fail_with_notes(ctx, status, v, late, notes->data + before,
                                               notes->len - before);
    return fxs_scene_finish(s) == FXS_OK ? FXS_OK : fxs_fail_memory(ctx);
}
