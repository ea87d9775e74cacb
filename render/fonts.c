/* fonts.c: see fonts.h. */
#include "fonts.h"

#include <pango/pangocairo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/map.h"
#include "pictures_library.h"

const fxs_face fxs_faces[FXS_INK_COUNT] = {
    [FXS_INK_NAME] = {true, 10, 12.5, 9.75},   [FXS_INK_TEXT] = {false, 10, 12.5, 9.75},
    [FXS_INK_KEY] = {false, 10, 12.5, 9.75},   [FXS_INK_ERROR] = {false, 10, 12.5, 9.75},
    [FXS_INK_TITLE] = {true, 14, 17.5, 13.65},
};

/* What pango looked up. */
typedef struct faces {
    PangoFontMap *map;
    PangoContext *context;
    PangoLayout *layout[FXS_INK_COUNT];
} faces;

struct fxs_fonts {
    bool fixed;
    faces *faces;
    fxs_arena arena; /* keys and widths */
    fxs_map widths;  /* letter of the face + text -> double */
    fxs_buf key;
};

static PangoLayout *new_layout(PangoContext *context, const fxs_face *face) {
    PangoFontDescription *d = pango_font_description_new();
    pango_font_description_set_family_static(d, FXS_FONT_FAMILY);
    pango_font_description_set_weight(d, face->bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_font_description_set_absolute_size(d, face->size * PANGO_SCALE);
    PangoLayout *layout = pango_layout_new(context);
    pango_layout_set_font_description(layout, d);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_font_description_free(d);
    return layout;
}

fxs_status fxs_pictures_need(fxs_ctx *ctx) {
    return fxs_library_need(ctx, &fxs_pictures_library, "what draws text and pictures");
}

/* pango looks fonts up in threads, one for its start and two for each face, and glib ends the
 * program when one can't be started: so where addresses or data are limited, room for their stacks
 * is looked for first. */
enum { FONT_THREADS = 1 + 2 * FXS_INK_COUNT, FONT_FILES_MIB = 128 };

static size_t room_for_threads(void) {
    pthread_attr_t attributes;
    size_t stack = (size_t)8 << 20;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &stack);
        pthread_attr_destroy(&attributes);
    }
    return FONT_THREADS * stack;
}

/* Under that limit; files of fonts are no data. */
static fxs_status look_for(fxs_ctx *ctx, int what, int protection, size_t room, const char *name) {
    struct rlimit limit;
    if (getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return FXS_OK;
    void *at = mmap(NULL, room, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return fxs_fail(ctx, FXS_ENOMEM,
                        "out of memory: fonts need %zu MiB more than the limit leaves (%s)",
                        room >> 20, name);
    munmap(at, room);
    return FXS_OK;
}

static fxs_status look_for_room(fxs_ctx *ctx) {
    size_t room = room_for_threads();
    FXS_TRY(
        look_for(ctx, RLIMIT_AS, PROT_NONE, room + ((size_t)FONT_FILES_MIB << 20), "ulimit -v"));
    return look_for(ctx, RLIMIT_DATA, PROT_READ | PROT_WRITE, room, "ulimit -d");
}

/* Has every face looked up now, while there is room. */
static void load_faces(fxs_fonts *f) {
    double width;
    for (int i = 0; i < FXS_INK_COUNT; i++)
        fxs_fonts_width(f, (fxs_ink)i, "x\xe2\x80\xa6", 4, &width);
}

/* The faces of a picture that is done wait here for the next: looking them up takes longer than
 * most pictures. Whoever takes them away has them alone, as pango wants; those of more pictures at
 * once are freed. */
static faces *_Atomic idle;

static fxs_status new_faces(fxs_ctx *ctx, faces **out) {
    faces *f = *out = fxs_alloc0(1, sizeof *f);
    if (!f)
        return fxs_fail_memory(ctx);
    f->map = pango_cairo_font_map_new();
    pango_cairo_font_map_set_resolution(PANGO_CAIRO_FONT_MAP(f->map), 72);
    f->context = pango_font_map_create_context(f->map);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(f->context, options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(f->context, FALSE);
    pango_context_set_language(f->context, pango_language_from_string("en"));
    pango_context_set_base_dir(f->context, PANGO_DIRECTION_LTR);
    for (int i = 0; i < FXS_INK_COUNT; i++)
        f->layout[i] = new_layout(f->context, &fxs_faces[i]);
    return FXS_OK;
}

static void free_faces(faces *f) {
    if (!f)
        return;
    for (int i = 0; i < FXS_INK_COUNT; i++)
        g_clear_object(&f->layout[i]);
    g_clear_object(&f->context);
    g_clear_object(&f->map);
    fxs_free(f);
}

fxs_status fxs_fonts_new(fxs_ctx *ctx, bool fixed, fxs_fonts **out) {
    fxs_fonts *f = *out = fxs_alloc0(1, sizeof *f);
    if (!f)
        return fxs_fail_memory(ctx);
    f->fixed = fixed;
    if (fixed)
        return FXS_OK;
    f->faces = atomic_exchange(&idle, NULL);
    if (f->faces)
        return FXS_OK;
    FXS_TRY(look_for_room(ctx));
    FXS_TRY(fxs_pictures_need(ctx));
    FXS_TRY(new_faces(ctx, &f->faces));
    load_faces(f);
    return FXS_OK;
}

void fxs_fonts_free(fxs_fonts *f) {
    if (!f)
        return;
    free_faces(f->faces ? atomic_exchange(&idle, f->faces) : NULL);
    fxs_map_free(&f->widths);
    fxs_arena_clear(&f->arena);
    fxs_buf_free(&f->key);
    fxs_free(f);
}

static size_t count_chars(const char *s, size_t n) {
    size_t chars = 0;
    for (size_t i = 0; i < n; i++)
        chars += ((unsigned char)s[i] & 0xc0) != 0x80;
    return chars;
}

bool fxs_fonts_width(fxs_fonts *f, fxs_ink ink, const char *s, size_t n, double *width) {
    const fxs_face *face = &fxs_faces[ink];
    *width = 0;
    if (f->fixed) {
        *width = (double)count_chars(s, n) * face->size * (face->bold ? 0.7 : 0.6);
        return true;
    }
    fxs_buf_cut(&f->key, 0);
    fxs_buf_putc(&f->key, ink == FXS_INK_TITLE ? 't' : face->bold ? 'b' : 'r');
    fxs_buf_add(&f->key, s, n);
    if (f->key.failed)
        return false;
    void **known = fxs_map_at(&f->widths, f->key.data, f->key.len);
    if (known) {
        *width = *(double *)*known;
        return true;
    }
    int units;
    pango_layout_set_text(f->faces->layout[ink], s, (int)n);
    pango_layout_get_size(f->faces->layout[ink], &units, NULL);
    char *key = fxs_arena_dup(&f->arena, f->key.data, f->key.len);
    double *kept = FXS_NEW(&f->arena, double);
    if (!key || !kept || !fxs_map_put(&f->widths, key, f->key.len, kept))
        return false;
    *kept = *width = (double)units / PANGO_SCALE;
    return true;
}

void fxs_fonts_show(fxs_fonts *f, cairo_t *cr, fxs_ink ink, const char *s, size_t n, double x,
                    double y) {
    pango_layout_set_text(f->faces->layout[ink], s, (int)n);
    cairo_move_to(cr, x, y);
    pango_cairo_show_layout_line(cr, pango_layout_get_line_readonly(f->faces->layout[ink], 0));
}
