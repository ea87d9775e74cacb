/* canvas_bookmarks.c: the modules of a network as the outline of a PDF, each at the first of its
 * nodes. Called by canvas_pdf.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "canvas_pages.h"
#include "escape.h"

enum { TITLE_CHARS = 120, DEEPEST = 64 };

/* The module that a node belongs to, or is: a dotted path. */
static const char *path_of(const fxs_node *n) {
    if (n->kind == FXS_CALL_MODULE && n->target)
        return n->target;
    return n->scope && n->scope->path ? n->scope->path : "";
}

typedef struct bookmarks {
    cairo_surface_t *pdf;
    fxs_arena arena;
    fxs_map known; /* path -> number of its bookmark */
} bookmarks;

/* The bookmark of path[0..len), of which path[from..len) is the last part. False: memory is out. */
static bool add(bookmarks *b, const char *path, size_t from, size_t len, int parent, size_t page,
                fxs_point at, int *number) {
    char attributes[120];
    fxs_buf title = {0};
    void **known = fxs_map_at(&b->known, path, len);
    if (known) {
        *number = (int)(uintptr_t)*known;
        return true;
    }
    fxs_clean(&title, path + from, len - from, TITLE_CHARS, false);
    fxs_buf_add(&title, "", 0);
    char *key = fxs_arena_dup(&b->arena, path, len);
    bool ok = !title.failed && key;
    if (ok) {
        snprintf(attributes, sizeof attributes, "page=%zu pos=[%ld %ld]", page, lround(at.x),
                 lround(at.y));
        *number = cairo_pdf_surface_add_outline(b->pdf, parent, title.data, attributes, 0);
        ok = fxs_map_put(&b->known, key, len, (void *)(uintptr_t)*number);
    }
    fxs_buf_free(&title);
    return ok;
}

static bool add_path(bookmarks *b, const char *path, size_t page, fxs_point at) {
    int parent = CAIRO_PDF_OUTLINE_ROOT;
    size_t from = 0;
    for (int depth = 0; depth < DEEPEST && path[from]; depth++) {
        size_t end = from + strcspn(path + from, ".");
        if (end > from && !add(b, path, from, end, parent, page, at, &parent))
            return false;
        from = path[end] ? end + 1 : end;
    }
    return true;
}

bool fxs_add_bookmarks(cairo_surface_t *pdf, const fxs_scene *s, fxs_place_fn *place,
                       const void *user) {
    bookmarks b = {.pdf = pdf};
    bool ok = true;
    for (size_t i = 0; i < s->view->nnodes && ok; i++) {
        const char *path = path_of(s->view->nodes[i].node);
        if (!*path || s->view->nodes[i].reference)
            continue;
        size_t page;
        fxs_point at = place(user, i, &page);
        ok = add_path(&b, path, page, at);
    }
    fxs_map_free(&b.known);
    fxs_arena_clear(&b.arena);
    return ok;
}
