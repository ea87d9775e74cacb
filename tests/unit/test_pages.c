/* test_pages.c: pictures that are cut or scaled: PNG in strips and tiles, widths, dashes, PDF on
 * pages. A picture in columns: for every golden network, nothing lies on anything else, no edge
 * passes a box, all edges arrive where they did, frames that are cut go on. */
#include "pictures.h"

#include <png.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "render/canvas.h"
#include "render/columns.h"
#include "render/cuts.h"
#include "render/pages.h"

/* ---- columns ---- */

static bool same_point(fxs_point a, fxs_point b) { return geo_distance(a, b) < 0.01; }

/* From the picture before to the picture in columns: both ends of an edge moved as their boxes did,
 * and no curve has a break. */
static void check_edges(const char *name, const fxs_scene *before, const fxs_scene *s) {
    for (size_t e = 0; e < s->view->nedges; e++) {
        const fxs_view_edge *edge = &s->view->edges[e];
        const fxs_curve *old = &before->curves[e], *c = &s->curves[e];
        const fxs_box *a = &before->boxes[edge->from], *b = &s->boxes[edge->from];
        fxs_point start = {old->points[0].x + b->x - a->x, old->points[0].y + b->y - a->y};
        if (!same_point(start, c->points[0]))
            fail_msg("%s: edge %zu starts elsewhere", name, e);
        a = &before->boxes[edge->to];
        b = &s->boxes[edge->to];
        fxs_point tip = {old->tip.x + b->x - a->x, old->tip.y + b->y - a->y};
        if (!same_point(tip, c->tip))
            fail_msg("%s: edge %zu ends elsewhere", name, e);
        double way = geo_distance(c->points[c->n - 1], c->tip);
        if (way > 2 * FXS_ARROW_LENGTH)
            fail_msg("%s: the arrow of edge %zu is %.0f long", name, e, way);
    }
}

static size_t members_shown(const fxs_scene *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->view->nnodes; i++)
        n += s->view->nodes[i].cluster && fxs_frame_shown(&s->frames[s->view->nodes[i].cluster]);
    return n;
}

static void wrap_network(const char *name, void *user) {
    fxs_ctx *ctx = user;
    size_t len;
    char *file = golden_file(name, &len);
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    fxs_free(file);
    for (int variant = 0; variant < VARIANTS; variant += STEP) {
        picture p, plain;
        lay_out(m, variant, &plain);
        for (size_t columns = 2; columns <= 4; columns++) {
            lay_out(m, variant, &p);
            assert_ok(ctx, fxs_columns(ctx, columns, &p.scene, &p.notes));
            check_picture(name, variant, &p.scene);
            check_edges(name, &plain.scene, &p.scene);
            assert_int_equal(members_shown(&p.scene), members_shown(&plain.scene));
            bool lr = variant & LR;
            double was = lr ? plain.scene.w : plain.scene.h, is = lr ? p.scene.w : p.scene.h;
            if (is > 0.9 * was)
                fail_msg("%s, variant %d: %zu columns are %.0f long, one was %.0f", name, variant,
                         columns, is, was);
            drop(&p);
        }
        drop(&plain);
    }
    fxs_module_unref(m);
}

static void networks_in_columns(void **state) { for_each_golden(wrap_network, *state); }

/* Memory that runs out at any place is told, and nothing is lost. */
static void columns_without_memory(void **state) {
    fxs_ctx *ctx = *state;
    size_t len;
    char *file = golden_file("testmodel", &len);
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "testmodel", file, len, &m));
    fxs_free(file);
    for (long n = 0;; n++) {
        picture p;
        lay_out(m, CLUSTERS | LABELS, &p);
        fxs_alloc_fail_after(n);
        fxs_status status = fxs_columns(ctx, 3, &p.scene, &p.notes);
        fxs_alloc_fail_after(-1);
        drop(&p);
        fxs_ctx_clear(ctx);
        if (status == FXS_OK)
            break;
        assert_int_equal(status, FXS_ENOMEM);
        assert_true(n < 1000);
    }
    fxs_module_unref(m);
}

/* More columns than there are places to cut; none; one node; nothing at all. */
static void few_places_to_cut(void **state) {
    fxs_ctx *ctx = *state;
    for (int n = 1; n < 5; n++) {
        fxs_module *m = chain_module(ctx, n);
        char *bytes, *notes;
        size_t len;
        assert_ok(ctx, fxs_draw_memory(m, &(fxs_draw_options){.columns = 100}, "svg", &bytes, &len,
                                       &notes));
        assert_true(xml_ok(bytes));
        assert_non_null(strstr(notes, "not 100: there are no more places"));
        fxs_free(bytes);
        fxs_free(notes);
        fxs_module_unref(m);
    }
    fxs_module *m = new_graph_module(ctx, "Empty");
    fxs_free(draw(m, &(fxs_draw_options){.columns = 3, .page = "a4"}, "svg", NULL));
    fxs_free(draw(m, &(fxs_draw_options){.columns = 3, .page = "a4"}, "pdf", NULL));
    fxs_module_unref(m);
}

/* ---- pixels ---- */

typedef struct pixels {
    png_image image;
    unsigned char *data;
} pixels;

static pixels decode(const char *bytes, size_t len) {
    pixels p = {.image = {.version = PNG_IMAGE_VERSION}};
    assert_true(png_image_begin_read_from_memory(&p.image, bytes, len));
    p.image.format = PNG_FORMAT_RGB;
    p.data = malloc(PNG_IMAGE_SIZE(p.image));
    assert_true(png_image_finish_read(&p.image, NULL, p.data, 0, NULL));
    return p;
}

static char folder[] = "/tmp/fxs-pages-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[8][256];
    static int next;
    char *p = paths[next++ % 8];
    snprintf(p, sizeof paths[0], "%s/%s", folder, name);
    return p;
}

static bool read_pixels(const char *name, pixels *p) {
    FILE *f = fopen(in_folder(name), "rb");
    if (!f)
        return false;
    fxs_buf b = {0};
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        fxs_buf_add(&b, chunk, n);
    fclose(f);
    *p = decode(b.data, b.len);
    fxs_buf_free(&b);
    unlink(in_folder(name));
    return true;
}

/* Rows of the part are those of the whole from `top` on; a curve that is cut may differ a little in
 * shade. */
static void assert_same_rows(const pixels *part, const pixels *whole, uint32_t top) {
    size_t row = (size_t)whole->image.width * 3, differing = 0;
    assert_int_equal(part->image.width, whole->image.width);
    assert_true(top + part->image.height <= whole->image.height);
    for (size_t i = 0; i < row * part->image.height; i++) {
        int by = abs(part->data[i] - whole->data[top * row + i]);
        assert_true(by <= 16);
        differing += by > 0;
    }
    assert_true(differing * 2000 < row * part->image.height);
}

/* Files with what a pattern makes of 1, 2, ..., put together, are the picture. */
static void check_files(fxs_module *m, fxs_draw_options *opt, const char *pattern, uint32_t overlap,
                        uint32_t most) {
    char *bytes, *notes;
    size_t len;
    fxs_draw_options plain = *opt;
    plain.png_fit = FXS_FIT_FULL;
    plain.png_tile = NULL;
    assert_ok(m->ctx, fxs_draw_memory(m, &plain, "png", &bytes, &len, NULL));
    pixels whole = decode(bytes, len), part;
    fxs_free(bytes);
    const char *path = in_folder("a.png");
    assert_ok(m->ctx, fxs_draw(m, opt, &path, 1, &notes));
    uint32_t top = 0, bottom = 0;
    size_t n = 0;
    for (char name[32]; snprintf(name, sizeof name, pattern, n + 1), read_pixels(name, &part);
         n++) {
        assert_true(part.image.height <= most);
        assert_same_rows(&part, &whole, top);
        bottom = top + part.image.height;
        top = bottom - overlap;
        free(part.data);
    }
    char count[64];
    snprintf(count, sizeof count, "in %zu ", n);
    assert_true(n > 2);
    assert_non_null(strstr(notes, count));
    assert_int_equal(bottom, whole.image.height);
    assert_int_equal(access(path, F_OK), -1); /* not there too */
    fxs_free(notes);
    free(whole.data);
}

static void strips_and_tiles(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = chain_module(ctx, 40);
    fxs_draw_options opt = {.png_fit = FXS_FIT_STRIP, .png_tile = "400x700", .title = "Strips"};
    check_files(m, &opt, "a-%zu.png", 0, 700);
    opt.png_fit = FXS_FIT_TILE;
    check_files(m, &opt, "a-r%zu-c1.png", 32, 700);
    opt.png_tile = NULL; /* fits: one file, with its own name */
    const char *path = in_folder("a.png");
    assert_ok(ctx, fxs_draw(m, &opt, &path, 1, NULL));
    assert_int_equal(unlink(path), 0);
    fxs_module_unref(m);
}

static int files_there(void) {
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void refused(fxs_module *m, const fxs_draw_options *opt, const char *path, fxs_status status,
                    const char *why) {
    assert_int_equal(fxs_draw(m, opt, &path, 1, NULL), status);
    if (!strstr(fxs_ctx_error(m->ctx), why))
        fail_msg("\"%s\" does not say \"%s\"", fxs_ctx_error(m->ctx), why);
    fxs_ctx_clear(m->ctx);
    assert_int_equal(files_there(), 0);
}

static void parts_that_can_not_be(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = chain_module(ctx, 40);
    fxs_draw_options opt = {.png_fit = FXS_FIT_STRIP, .png_tile = "64x64"};
    const char *path = in_folder("a.png");
    refused(m, &opt, path, FXS_ELIMIT, "use tiles");
    opt.png_tile = "64x";
    refused(m, &opt, path, FXS_EINVAL, "WIDTHxHEIGHT");
    opt.png_tile = "400x700";
    char *bytes;
    size_t len;
    assert_int_equal(fxs_draw_memory(m, &opt, "png", &bytes, &len, NULL), FXS_EINVAL);
    assert_non_null(strstr(fxs_ctx_error(ctx), "several files"));
    fxs_ctx_clear(ctx);
    opt.png_fit = FXS_FIT_SCALE;
    refused(m, &opt, path, FXS_ELIMIT, "can't be read");
    opt.force = true;
    assert_ok(ctx, fxs_draw(m, &opt, &path, 1, NULL));
    assert_int_equal(unlink(path), 0);
    /* The third strip can't be written: none is there. */
    opt.png_fit = FXS_FIT_STRIP;
    assert_int_equal(mkdir(in_folder("a-3.png"), 0777), 0);
    assert_int_equal(fxs_draw(m, &opt, &path, 1, NULL), FXS_EIO);
    assert_non_null(strstr(fxs_ctx_error(ctx), "a-3.png"));
    fxs_ctx_clear(ctx);
    assert_int_equal(rmdir(in_folder("a-3.png")), 0);
    assert_int_equal(files_there(), 0);
    fxs_module_unref(m);
}

static void a_width(void **state) {
    fxs_module *m = chain_module(*state, 10);
    static const struct {
        const char *width;
        uint32_t pixels;
        const char *svg;
    } rows[] = {{"300px", 300, " width=\"300\""},
                {"100mm", 378, " width=\"378\""},
                {"1in", 96, " width=\"96\""},
                {"36", 48, " width=\"48\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool tiny = rows[i].pixels < 100;
        fxs_draw_options opt = {.fit_width = rows[i].width};
        char *bytes, *notes;
        size_t n;
        if (tiny)
            refused(m, &opt, in_folder("a.png"), FXS_ELIMIT, "which can't be read");
        opt.force = tiny;
        assert_ok(*state, fxs_draw_memory(m, &opt, "png", &bytes, &n, &notes));
        pixels p = decode(bytes, n);
        assert_int_equal(p.image.width, rows[i].pixels);
        assert_int_equal(strstr(notes, "points high") != NULL, tiny);
        free(p.data);
        fxs_free(bytes);
        fxs_free(notes);
        char *svg = draw(m, &opt, "svg", NULL);
        assert_non_null(strstr(svg, rows[i].svg));
        fxs_free(svg);
    }
    static const char *const wrong[] = {"",         "mm", "-3mm",     "0x10", "1e3", "inf", "nan",
                                        "5furlong", "0",  "10000000", "page", "15",  "1px"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(m, &(fxs_draw_options){.fit_width = wrong[i]}, in_folder("a.svg"), FXS_EINVAL,
                "width");
    fxs_module_unref(m);
}

/* ---- dashes ---- */

static bool is_ink(const pixels *p, fxs_point at) {
    size_t x = (size_t)(at.x * 96 / 72), y = (size_t)(at.y * 96 / 72);
    const unsigned char *pixel = &p->data[(y * p->image.width + x) * 3];
    return pixel[0] + pixel[1] + pixel[2] < 3 * 0xf0;
}

/* How often the picture goes from ink to paper along a curve. */
static int breaks_along(const pixels *p, const fxs_curve *c, double *length) {
    int breaks = 0;
    bool ink = true;
    fxs_point before = c->points[0];
    *length = 0;
    for (size_t k = 0; k + 3 < c->n; k += 3)
        for (int i = 1; i <= 200; i++) {
            fxs_point at = geo_at(&c->points[k], i / 200.0);
            *length += geo_distance(before, at);
            before = at;
            breaks += ink && !is_ink(p, at);
            ink = is_ink(p, at);
        }
    return breaks;
}

/* An edge without a tensor is dashed, with 5 points of line and 3 of paper; one with a tensor is
 * not. */
static void dashes_of_png(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = sample_module(ctx);
    picture p = {0};
    fxs_canvas_options opt = FXS_CANVAS_DEFAULTS;
    fxs_sink sink;
    assert_ok(ctx, fxs_fonts_new(ctx, false, &p.fonts));
    assert_ok(ctx, fxs_view_make(m, &(fxs_draw_options){0}, p.fonts, &p.view));
    assert_ok(ctx, fxs_layout(ctx, &p.view, "layered", 60, NULL, &p.scene, &p.notes));
    opt.notes = &p.notes;
    fxs_sink_memory(&sink);
    assert_ok(ctx, fxs_canvas_png(ctx, &p.scene, &opt, &sink));
    pixels image = decode(sink.buf.data, sink.buf.len);
    size_t dashed = 0;
    for (size_t e = 0; e < p.view.nedges; e++) {
        double length;
        int breaks = breaks_along(&image, &p.scene.curves[e], &length);
        if (p.view.edges[e].tensor) {
            assert_int_equal(breaks, 0);
            continue;
        }
        dashed++;
        assert_true(length > 16);
        assert_true(breaks >= floor(length / 8) - 1 && breaks <= ceil(length / 8) + 1);
    }
    assert_int_equal(dashed, 2);
    free(image.data);
    fxs_sink_close(&sink);
    drop(&p);
    fxs_module_unref(m);
}

/* All compressed streams of a PDF, as one text; free it. */
static char *pdf_streams(const char *pdf, size_t len) {
    fxs_buf out = {0};
    const char *at = pdf, *end = pdf + len;
    while ((at = memmem(at, (size_t)(end - at), "stream\n", 7))) {
        at += 7;
        if (at - pdf > 10 && memcmp(at - 10, "end", 3) == 0)
            continue;
        z_stream z = {.next_in = (unsigned char *)(uintptr_t)at, .avail_in = (unsigned)(end - at)};
        assert_int_equal(inflateInit(&z), Z_OK);
        char chunk[4096];
        int status = Z_OK;
        while (status == Z_OK) {
            z.next_out = (unsigned char *)chunk;
            z.avail_out = sizeof chunk;
            status = inflate(&z, Z_NO_FLUSH);
            fxs_buf_add(&out, chunk, sizeof chunk - z.avail_out);
        }
        inflateEnd(&z);
    }
    for (size_t i = 0; i < out.len; i++)
        out.data[i] = out.data[i] ? out.data[i] : ' ';
    return fxs_buf_take(&out, NULL);
}

static void dashes_of_pdf(void **state) {
    for (int dashed = 0; dashed < 2; dashed++) {
        fxs_module *m = dashed ? sample_module(*state) : chain_module(*state, 5);
        size_t n;
        char *pdf = draw(m, NULL, "pdf", &n), *text = pdf_streams(pdf, n);
        assert_non_null(strstr(text, "BT")); /* the page is there */
        assert_int_equal(count_of(text, "[ 5 3] 0 d") > 0, dashed);
        fxs_free(pdf);
        fxs_free(text);
        fxs_module_unref(m);
    }
}

/* ---- pages ---- */

static const fxs_page_ref *find_ref(const fxs_page *page, bool leaves, double slack, fxs_point at) {
    for (size_t i = 0; i < page->nrefs; i++) {
        const fxs_page_ref *r = &page->refs[i];
        bool x = r->side == FXS_PAGE_LEFT || r->side == FXS_PAGE_RIGHT;
        double border = r->side == FXS_PAGE_TOP      ? page->area.low.y
                        : r->side == FXS_PAGE_BOTTOM ? page->area.high.y
                        : r->side == FXS_PAGE_LEFT   ? page->area.low.x
                                                     : page->area.high.x;
        if (!r->frame && r->leaves == leaves && fabs((x ? at.y : at.x) - r->at) < slack &&
            fabs((x ? at.x : at.y) - border) < slack)
            return r;
    }
    return NULL;
}

static bool holds(const fxs_area *a, fxs_point p) {
    return p.x >= a->low.x - 0.01 && p.x <= a->high.x + 0.01 && p.y >= a->low.y - 0.01 &&
           p.y <= a->high.y + 0.01;
}

static size_t page_at(const fxs_pages *p, fxs_point at) {
    size_t page = 0;
    while (page < p->n && !holds(&p->pages[page].area, at))
        page++;
    return page;
}

/* On the page of the box that it comes from; when that page shows only a part of the box, perhaps
 * on one that shows another, where the box says its page. */
static size_t page_of_begin(const char *name, const fxs_pages *p, size_t edge) {
    size_t node = p->scene->view->edges[edge].from, page = p->page_of[node];
    fxs_point at = p->scene->curves[edge].points[0];
    fxs_area box = fxs_scene_box(p->scene, node);
    if (holds(&p->pages[page].area, at))
        return page;
    if (geo_within(&box, &p->pages[page].area) || page_at(p, at) == p->n)
        fail_msg("%s: edge %zu begins on no page of its box", name, edge);
    return page_at(p, at);
}

/* Follows an edge in small steps: it is always on some page, and where it leaves one there is a
 * reference. */
static size_t check_way(const char *name, const fxs_pages *p, size_t edge) {
    const fxs_scene *s = p->scene;
    const fxs_curve *c = &s->curves[edge];
    size_t page = page_of_begin(name, p, edge), left = 0;
    fxs_point before = c->points[0];
    for (size_t k = 0; k + 3 < c->n; k += 3)
        for (int i = 1; i <= 100; i++) {
            fxs_point at = geo_at(&c->points[k], i / 100.0);
            if (!holds(&p->pages[page].area, at)) {
                double step = fmax(geo_distance(before, at), 1) + FXS_SAME_LINE;
                if (!find_ref(&p->pages[page], true, step, before))
                    fail_msg("%s: edge %zu leaves page %zu without a reference", name, edge, page);
                left++;
                page = page_at(p, at);
                if (page == p->n)
                    fail_msg("%s: edge %zu is on no page at %.1f, %.1f", name, edge, at.x, at.y);
            }
            before = at;
        }
    return left;
}

/* How many references of a page tell of a line at that point of its border. */
static size_t refs_at(const fxs_page *page, bool leaves, fxs_point at) {
    size_t n = 0;
    const fxs_area *a = &page->area;
    for (size_t i = 0; i < page->nrefs; i++) {
        const fxs_page_ref *r = &page->refs[i];
        bool x = r->side == FXS_PAGE_LEFT || r->side == FXS_PAGE_RIGHT;
        double border = r->side == FXS_PAGE_TOP      ? a->low.y
                        : r->side == FXS_PAGE_BOTTOM ? a->high.y
                        : r->side == FXS_PAGE_LEFT   ? a->low.x
                                                     : a->high.x;
        double along = x ? at.y : at.x, away = fabs((x ? at.x : at.y) - border);
        n += !r->frame && r->leaves == leaves && away < 0.01 && along > r->at - 0.01 &&
             along < r->until + 0.01;
    }
    return n;
}

static bool is_inside(const fxs_area *a, fxs_point p) {
    return p.x > a->low.x && p.x < a->high.x && p.y > a->low.y && p.y < a->high.y;
}

/* Where the curve goes through the border, between two places on different sides of it. */
static fxs_point border_point(const fxs_area *a, const fxs_point p[4], double t0, double t1) {
    bool first = is_inside(a, geo_at(p, t0));
    for (int i = 0; i < 60; i++) {
        double t = (t0 + t1) / 2;
        *(is_inside(a, geo_at(p, t)) == first ? &t0 : &t1) = t;
    }
    return geo_at(p, t0);
}

/* Where an edge leaves a page, and where it comes in, there is one reference. Returns how often it
 * leaves. */
static size_t check_passage(const char *name, const fxs_pages *p, size_t page, size_t edge) {
    enum { STEPS = 40 };
    const fxs_curve *c = &p->scene->curves[edge];
    const fxs_area *a = &p->pages[page].area;
    bool inside = is_inside(a, c->points[0]);
    size_t left = 0;
    for (size_t k = 0; k < c->n; k += 3) {
        fxs_point end = c->points[k];
        fxs_point way[4] = {end, end, c->tip, c->tip};
        if (k + 3 < c->n)
            memcpy(way, &c->points[k], sizeof way);
        for (int i = 1; i <= STEPS; i++) {
            double t = (double)i / STEPS;
            if (is_inside(a, geo_at(way, t)) == inside)
                continue;
            fxs_point at = border_point(a, way, t - 1.0 / STEPS, t);
            size_t n = refs_at(&p->pages[page], inside, at);
            if (n != 1)
                fail_msg("%s, page %zu: %zu references where edge %zu %s at %.2f, %.2f", name, page,
                         n, edge, inside ? "leaves" : "enters", at.x, at.y);
            left += inside;
            inside = !inside;
        }
    }
    return left;
}

static bool overlap(const fxs_area *a, const fxs_area *b) {
    fxs_area less = fxs_area_grown(*a, -0.01);
    return fxs_area_touches(&less, b);
}

/* Texts are on the paper, outside of the picture and above the foot, and cover no other text, no
 * mark and no line from one to the other. Returns how many marks have no text. */
static size_t check_texts(const char *name, const fxs_pages *p, size_t page) {
    const fxs_page *of = &p->pages[page];
    fxs_area shown = {fxs_page_place(p, page, of->area.low),
                      fxs_page_place(p, page, of->area.high)};
    fxs_area paper = {{0, 0}, {p->w, p->h - FXS_PAGE_FOOT}};
    size_t without = 0;
    for (size_t i = 0; i < of->nrefs; i++) {
        fxs_ref_shape s = fxs_page_ref_shape(p, page, &of->refs[i]);
        if (of->refs[i].line < 0) {
            without++;
            continue;
        }
        assert_true(s.text.high.x > s.text.low.x && geo_within(&s.text, &paper));
        if (overlap(&s.text, &shown))
            fail_msg("%s, page %zu: the text of reference %zu is in the picture", name, page, i);
        for (size_t k = 0; k < of->nrefs; k++) {
            fxs_ref_shape other = fxs_page_ref_shape(p, page, &of->refs[k]);
            if (overlap(&s.text, &other.mark) ||
                (k != i && (overlap(&s.text, &other.leader) || overlap(&s.text, &other.text))))
                fail_msg("%s, page %zu: reference %zu lies on reference %zu", name, page, i, k);
        }
    }
    return without;
}

/* How often edges leave pages; on two that overlap where the picture is cut there may be none. */
static size_t check_pages(const char *name, const fxs_pages *p) {
    const fxs_scene *s = p->scene;
    double w = p->inside.high.x - p->inside.low.x, h = p->inside.high.y - p->inside.low.y;
    for (size_t i = 0; i < p->n; i++) {
        const fxs_page *page = &p->pages[i];
        assert_true((page->area.high.x - page->area.low.x) * p->scale <= w + 0.01);
        assert_true((page->area.high.y - page->area.low.y) * p->scale <= h + 0.01);
        for (size_t k = 0; k < page->nrefs; k++) {
            const fxs_page_ref *r = &page->refs[k];
            int lines = FXS_PAGE_LINES + (r->side == FXS_PAGE_TOP ? p->frame_lines : 0);
            assert_true(r->frame || r->page == p->page_of[r->node]);
            assert_true(r->line < lines && (r->line < 0 || r->text_at >= 0));
        }
    }
    for (size_t i = 0; i < s->view->nnodes && p->boxes == 0; i++) {
        fxs_area box = fxs_scene_box(s, i);
        if (!geo_within(&box, &p->pages[p->page_of[i]].area))
            fail_msg("%s: %s is cut", name, s->view->nodes[i].node->name);
    }
    assert_true(p->boxes == 0 || strcmp(name, "vit_b_16") != 0);
    size_t left = 0;
    for (size_t e = 0; e < s->view->nedges; e++)
        left += check_way(name, p, e);
    size_t again = 0;
    for (size_t i = 0; i < p->n; i++)
        FXS_AREAS_EACH (e, s->edge_areas, p->pages[i].area)
            if (s->curves[e].n)
                again += check_passage(name, p, i, e);
    assert_true((again > 0) == (left > 0));
    return left;
}

/* A frame whose own name is on an earlier page is named once on each page that it goes on on.
 * Returns how many there are. */
static size_t check_frames(const char *name, const fxs_pages *p, size_t page) {
    const fxs_scene *s = p->scene;
    const fxs_page *of = &p->pages[page];
    fxs_area in = fxs_area_grown(of->area, -4);
    size_t all = 0;
    FXS_AREAS_EACH (i, s->frame_areas, in) {
        const fxs_area *f = &s->frames[i];
        size_t n = 0;
        fxs_buf text = {0};
        for (size_t k = 0; k < of->nrefs; k++) {
            const fxs_page_ref *r = &of->refs[k];
            if (r->frame != i)
                continue;
            fxs_page_ref_text(p, r, r->form, &text);
            fxs_buf_add(&text, "", 0);
            assert_non_null(strstr(text.data, " (continued)"));
            n += r->line >= 0;
        }
        fxs_buf_free(&text);
        size_t needed = s->view->clusters[i].label.len &&
                        (f->low.y < of->area.low.y - 1 || f->low.x < of->area.low.x - 1);
        if (n != needed)
            fail_msg("%s, page %zu: frame %zu is named %zu times above it", name, page, i, n);
        all += n;
    }
    return all;
}

static bool ends_in(const fxs_scene *s, size_t node, const fxs_area *seen) {
    for (size_t e = 0; e < s->view->nedges; e++) {
        const fxs_view_edge *edge = &s->view->edges[e];
        const fxs_curve *c = &s->curves[e];
        if (c->n && ((edge->from == node && holds(seen, c->points[0])) ||
                     (edge->to == node && holds(seen, c->tip))))
            return true;
    }
    return false;
}

/* What is seen of a box that is whole on another page says where, in a text that is all in it, or
 * is too small for that; it is hidden only where no line begins or ends in it. */
static void check_piece(const char *name, const fxs_pages *p, const fxs_page_piece *piece) {
    const fxs_scene *s = p->scene;
    double w = piece->at.high.x - piece->at.low.x, h = piece->at.high.y - piece->at.low.y, width;
    size_t number = fxs_page_number(p, p->page_of[piece->node]);
    char text[40], expected[40];
    bool short_one = piece->form == FXS_PIECE_NUMBER;
    if (piece->form == FXS_PIECE_HIDDEN && ends_in(s, piece->node, &piece->seen))
        fail_msg("%s: a line ends at %s, of which nothing is shown", name,
                 s->view->nodes[piece->node].node->name);
    if (piece->form < FXS_PIECE_NUMBER) {
        if (fmin(w, h) >= FXS_PAGE_LINE && fmax(w, h) >= 22)
            fail_msg("%s: nothing is said in %.1f x %.1f of page %zu", name, w, h, number);
        return;
    }
    size_t len = fxs_page_piece_text(p, piece, short_one, text, sizeof text);
    snprintf(expected, sizeof expected, short_one ? "%zu" : "page %zu", number);
    assert_string_equal(text, expected);
    assert_true(fxs_fonts_width(s->view->fonts, FXS_INK_KEY, text, len, &width));
    width *= FXS_PAGE_TEXT;
    if (piece->turned ? width > h || w < FXS_PAGE_LINE : width > w || h < FXS_PAGE_LINE)
        fail_msg("%s: \"%s\" is cut off in %.1f x %.1f", name, text, w, h);
}

/* Boxes that are nowhere whole have none. */
static void check_pieces(const char *name, const fxs_pages *p, size_t page, size_t *forms) {
    const fxs_page *of = &p->pages[page];
    size_t n = 0;
    for (size_t i = 0; i < p->scene->view->nnodes; i++) {
        fxs_area box = fxs_scene_box(p->scene, i), in = fxs_area_grown(box, -1);
        bool whole = geo_within(&box, &p->pages[p->page_of[i]].area);
        bool expected = whole && p->page_of[i] != page && fxs_area_touches(&in, &of->area);
        const fxs_page_piece *piece = NULL;
        for (size_t k = 0; k < of->npieces; k++)
            if (of->pieces[k].node == i)
                piece = &of->pieces[k];
        if (expected ? !piece : piece && (!whole || p->page_of[i] == page))
            fail_msg("%s, page %zu: %s %s a piece", name, page, p->scene->view->nodes[i].node->name,
                     piece ? "has" : "lacks");
        if (piece) {
            check_piece(name, p, piece);
            forms[piece->form]++;
            n++;
        }
    }
    assert_true(n == of->npieces);
}

typedef struct page_tally {
    fxs_ctx *ctx;
    size_t left, refs, without, frames, forms[FXS_PIECE_PAGE + 1];
} page_tally;

static void put_on_pages(const char *name, void *user) {
    static const struct {
        double w, h, scale;
    } papers[] = {{595, 842, 1}, {842, 595, 0.7}, {1191, 1684, 0.6}};
    page_tally *t = user;
    fxs_ctx *ctx = t->ctx;
    size_t len;
    char *file = golden_file(name, &len);
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    fxs_free(file);
    for (int i = 0; i < 3; i++) {
        picture p;
        fxs_pages pages;
        lay_out(m, i == 1 ? LR : i == 2 ? CLUSTERS | LABELS : 0, &p);
        assert_int_equal(
            fxs_pages_make(&p.scene, papers[i].scale, papers[i].w, papers[i].h, &pages), FXS_OK);
        t->left += check_pages(name, &pages);
        for (size_t k = 0; k < pages.n; k++) {
            t->refs += pages.pages[k].nrefs;
            t->without += check_texts(name, &pages, k);
            t->frames += check_frames(name, &pages, k);
            check_pieces(name, &pages, k, t->forms);
        }
        fxs_pages_free(&pages);
        drop(&p);
    }
    fxs_module_unref(m);
}

static void networks_on_pages(void **state) {
    page_tally t = {.ctx = *state};
    for_each_golden(put_on_pages, &t);
    assert_true(t.left > 70000);
    assert_true(t.without * 3 < t.refs);
    assert_true(t.frames > 100);
    assert_true(t.forms[FXS_PIECE_HIDDEN] && t.forms[FXS_PIECE_PAGE] > 1000);
}

/* On small pages boxes reach over borders everywhere, and pieces are of every size. */
static void pieces_on_small_pages(void **state) {
    static const char *const names[] = {"densenet121", "vit_b_16", "googlenet"};
    size_t forms[FXS_PIECE_PAGE + 1] = {0};
    for (int i = 0; i < 9; i++) {
        size_t len;
        char *file = golden_file(names[i / 3], &len);
        fxs_module *m;
        picture p;
        fxs_pages pages;
        assert_ok(*state, fxs_load_text(*state, names[i / 3], file, len, &m));
        fxs_free(file);
        lay_out(m, i % 3 == 1 ? CLUSTERS : i % 3 == 2 ? LR : 0, &p);
        assert_int_equal(fxs_pages_make(&p.scene, 0.75 - 0.27 * (i % 3), 300, 400, &pages), FXS_OK);
        for (size_t k = 0; k < pages.n; k++)
            check_pieces(names[i / 3], &pages, k, forms);
        fxs_pages_free(&pages);
        drop(&p);
        fxs_module_unref(m);
    }
    assert_true(forms[FXS_PIECE_HIDDEN] && forms[FXS_PIECE_NUMBER] && forms[FXS_PIECE_PAGE]);
}

static size_t count_bytes(const char *bytes, size_t len, const char *what) {
    size_t n = 0;
    const char *at = bytes, *end = bytes + len;
    for (; (at = memmem(at, (size_t)(end - at), what, strlen(what))); at++)
        n++;
    return n;
}

/* No side of a page is more than viewers show; returns the number of pages. */
static size_t check_sizes(const char *pdf, size_t len, double w, double h) {
    size_t n = 0;
    const char *at = pdf, *end = pdf + len;
    for (; (at = memmem(at, (size_t)(end - at), "/MediaBox", 9)); at++, n++) {
        double size[2] = {0, 0};
        assert_int_equal(sscanf(at, "/MediaBox [ 0 0 %lf %lf ]", &size[0], &size[1]), 2);
        assert_true(size[0] <= 14400 && size[1] <= 14400);
        assert_true(w <= 0 || (fabs(size[0] - w) < 1 && fabs(size[1] - h) < 1));
    }
    return n;
}

/* A fan of 600 lines passes over some 240 pages: where it is too dense to see its lines apart, a
 * page has not all of them, and not a link for each. */
static void a_fan_on_pages(void **state) {
    enum { LINES = 600 };
    fxs_ctx *ctx = *state;
    fxs_buf text = {0};
    fxs_module *m;
    fxs_buf_printf(&text, "P(\n)\ngraph():\n    %%x : [#users=%d] = placeholder[target=x]\n",
                   LINES);
    for (int i = 0; i < LINES; i++)
        fxs_buf_printf(&text,
                       "    %%r%d : [#users=1] = call_function[target=torch.relu](args = (%%x,), "
                       "kwargs = {})\n",
                       i);
    fxs_buf_puts(&text, "    %cat : [#users=1] = call_function[target=torch.cat](args = ([");
    for (int i = 0; i < LINES; i++)
        fxs_buf_printf(&text, "%s%%r%d", i ? ", " : "", i);
    fxs_buf_puts(&text, "],), kwargs = {})\n    return cat\n");
    assert_ok(ctx, fxs_load_text(ctx, "fan", text.data, text.len, &m));
    size_t n;
    char *pdf = draw(m, &(fxs_draw_options){.page = "a4"}, "pdf", &n);
    size_t pages = check_sizes(pdf, n, 595, 842);
    assert_true(pages > 150);
    assert_true(n / pages < 12000);
    assert_true(count_bytes(pdf, n, "/Subtype /Link") < 30 * pages);
    fxs_free(pdf);
    fxs_buf_free(&text);
    fxs_module_unref(m);
}

static void pdf_of_pages(void **state) {
    static const struct {
        const char *page;
        bool landscape;
        double w, h;
    } rows[] = {{"a4", false, 595, 842},
                {"Letter", true, 792, 612},
                {"200x300mm", false, 567, 850},
                {"8x5in", false, 576, 360},
                {NULL, false, 0, 0}};
    fxs_module *m = chain_module(*state, 600);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fxs_draw_options opt = {.page = rows[i].page, .landscape = rows[i].landscape};
        size_t n, again_n;
        char *pdf = draw(m, &opt, "pdf", &n), *again = draw(m, &opt, "pdf", &again_n);
        assert_int_equal(n, again_n);
        assert_memory_equal(pdf, again, n);
        size_t pages = check_sizes(pdf, n, rows[i].w, rows[i].h);
        assert_true(pages > (rows[i].page ? 20 : 2));
        /* each page has a link to the next and one from it; the overview one to each */
        assert_true(count_bytes(pdf, n, "/Subtype /Link") >= 3 * (pages - 2));
        fxs_free(pdf);
        fxs_free(again);
    }
    fxs_module_unref(m);
}

/* Title and legend stand on the first page as a whole, on paper that the picture is too wide for.
 */
static void heading_on_one_page(void **state) {
    static const struct {
        double w, h;
        bool lr;
    } papers[] = {{595, 842, false}, {842, 595, true}, {540, 700, false}};
    fxs_ctx *ctx = *state;
    size_t len;
    char *file = golden_file("inception_v3", &len);
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "inception_v3", file, len, &m));
    fxs_free(file);
    for (int i = 0; i < 3; i++) {
        fxs_pages pages;
        picture p = {0};
        fxs_area inside = fxs_pages_inside(papers[i].w, papers[i].h);
        fxs_draw_options opt = {.direction = papers[i].lr ? "LR" : "TB",
                                .color_by = "family",
                                .title = "A title of its own"};
        assert_ok(ctx, fxs_fonts_new(ctx, true, &p.fonts));
        assert_ok(ctx, fxs_view_make(m, &opt, p.fonts, &p.view));
        p.view.heading_room = (inside.high.x - inside.low.x - 24) / (papers[i].lr ? 2 : 1);
        assert_ok(ctx, fxs_layout(ctx, &p.view, "layered", 60, NULL, &p.scene, &p.notes));
        assert_true(p.scene.w > 2 * (inside.high.x - inside.low.x));
        assert_int_equal(fxs_pages_make(&p.scene, 1, papers[i].w, papers[i].h, &pages), FXS_OK);
        const fxs_area *heading = &p.scene.heading;
        assert_true(geo_within(heading, &pages.pages[0].area));
        for (size_t k = 0; k < p.view.legend.n; k++) {
            fxs_point text = p.scene.swatch_texts[k];
            assert_true(holds(heading, text));
            text.x += p.view.legend.items[k].text.width;
            assert_true(holds(heading, text));
        }
        fxs_pages_free(&pages);
        drop(&p);
    }
    fxs_module_unref(m);
}

static void pages_that_can_not_be(void **state) {
    fxs_module *m = chain_module(*state, 600);
    static const char *const wrong[] = {
        "",      "a9",          "x",          "210x",      "x297mm", "210x297furlong",
        "1x1mm", "99999x99999", "210x297mm ", "-210x297mm"};
    const char *path = in_folder("a.pdf");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(m, &(fxs_draw_options){.page = wrong[i]}, path, FXS_EINVAL, "known");
    refused(m, &(fxs_draw_options){.landscape = true}, path, FXS_EINVAL, "landscape");
    refused(m, &(fxs_draw_options){.fit_width = "page"}, path, FXS_EINVAL, "page");
    refused(m, &(fxs_draw_options){.page = "144x144", .fit_width = "99999"}, path, FXS_ELIMIT,
            "too many");
    refused(m, &(fxs_draw_options){.page = "a4", .columns = 3}, path, FXS_EINVAL, "fit on one");
    refused(m, &(fxs_draw_options){.page = "a4", .columns = 3, .fit_width = "page"}, path,
            FXS_EINVAL, "fit on one");
    fxs_module_unref(m);
}

/* Columns that stand on one page are a page. */
static void columns_on_a_page(void **state) {
    fxs_module *m = chain_module(*state, 24);
    char *pdf;
    size_t len;
    fxs_draw_options o = {.page = "a4", .columns = 4, .fit_width = "page"};
    assert_ok(*state, fxs_draw_memory(m, &o, "pdf", &pdf, &len, NULL));
    assert_int_equal(count_bytes(pdf, len, "/MediaBox"), 1);
    fxs_free(pdf);
    fxs_module_unref(m);
}

/* Modules are bookmarks, their parts inside of them. */
static void bookmarks_of_modules(void **state) {
    fxs_module *m = sample_module(*state);
    size_t n;
    for (int i = 0; i < 2; i++) {
        char *pdf = draw(m, &(fxs_draw_options){.page = i ? "a5" : NULL}, "pdf", &n);
        assert_int_equal(count_bytes(pdf, n, "/Type /Outlines"), 1);
        assert_int_equal(count_bytes(pdf, n, "/Title (conv)"), 1);
        fxs_free(pdf);
    }
    fxs_module_unref(m);
}

static void pages_without_memory(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = sample_module(ctx);
    fxs_draw_options opt = {.page = "144x200", .title = "Memory"};
    for (long n = 0;; n++) {
        char *bytes, *notes;
        size_t len;
        fxs_alloc_fail_after(n);
        fxs_status status = fxs_draw_memory(m, &opt, "pdf", &bytes, &len, &notes);
        fxs_alloc_fail_after(-1);
        fxs_free(bytes);
        fxs_free(notes);
        fxs_ctx_clear(ctx);
        if (status == FXS_OK)
            break;
        assert_int_equal(status, FXS_ENOMEM);
        assert_true(n < 5000);
    }
    fxs_module_unref(m);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(networks_in_columns, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(columns_without_memory, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(few_places_to_cut, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(strips_and_tiles, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(parts_that_can_not_be, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_width, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(dashes_of_png, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(dashes_of_pdf, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(networks_on_pages, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(pieces_on_small_pages, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(heading_on_one_page, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_fan_on_pages, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(pdf_of_pages, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(pages_that_can_not_be, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(columns_on_a_page, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(bookmarks_of_modules, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(pages_without_memory, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("pages", tests, make_folder, remove_folder);
}
