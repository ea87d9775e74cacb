/* test_render_output.c: files: what can go wrong with them, and that nothing is left behind then;
 * the size, bands and resolution of PNG; pages of PDF. */
#include "render_testing.h"

#include <dirent.h>
#include <errno.h>
#include <png.h>
#include <sys/stat.h>
#include <unistd.h>

#include "render/canvas.h"
#include "render/layout.h"

/* ---- files
 * ----------------------------------------------------------------------------------------------------
 */

static char folder[] = "/tmp/fxs-output-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[4][256];
    static int next;
    char *p = paths[next++ % 4];
    snprintf(p, sizeof paths[0], "%s/%s", folder, name);
    return p;
}

static int count_files(void) {
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void make_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static size_t file_size(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

static void expect_io_error(fxs_module *m, const char *path, int error) {
    char *notes;
    assert_int_equal(fxs_draw(m, NULL, &path, 1, &notes), FXS_EIO);
    fxs_free(notes);
    const char *message = fxs_ctx_error(m->ctx);
    if (!strstr(message, path) || !strstr(message, strerror(error)))
        fail_msg("\"%s\" does not say %s: %s", message, path, strerror(error));
    fxs_ctx_clear(m->ctx);
}

static void all_formats_at_once(void **state) {
    fxs_module *m = sample_module(*state);
    const char *paths[] = {in_folder("a.svg"), in_folder("a.png"), in_folder("a.pdf"),
                           in_folder("a.dot")};
    char *notes;
    assert_ok(*state, fxs_draw(m, NULL, paths, 4, &notes));
    assert_string_equal(notes, "");
    fxs_free(notes);
    assert_int_equal(count_files(), 4);
    for (int i = 0; i < 4; i++) {
        assert_true(file_size(paths[i]) > 1000);
        unlink(paths[i]);
    }
    assert_ok(*state, fxs_draw(m, NULL, NULL, 0, NULL));
    fxs_module_unref(m);
}

static void unwritable_files(void **state) {
    fxs_module *m = sample_module(*state);
    mkdir(in_folder("folder.svg"), 0777);
    make_file(in_folder("file"), "");
    expect_io_error(m, in_folder("folder.svg"), EISDIR);
    expect_io_error(m, in_folder("missing/a.svg"), ENOENT);
    expect_io_error(m, in_folder("file/a.svg"), ENOTDIR);
    assert_int_equal(symlink("/dev/full", in_folder("full.svg")), 0);
    assert_int_equal(symlink("/dev/full", in_folder("full.png")), 0);
    assert_int_equal(symlink("/dev/full", in_folder("full.pdf")), 0);
    assert_int_equal(symlink("/dev/full", in_folder("full.dot")), 0);
    static const char *const full[] = {"full.svg", "full.png", "full.pdf", "full.dot"};
    for (int i = 0; i < 4; i++) {
        expect_io_error(m, in_folder(full[i]), ENOSPC);
        unlink(in_folder(full[i]));
    }
    rmdir(in_folder("folder.svg"));
    unlink(in_folder("file"));
    assert_int_equal(count_files(), 0);
    const char *path = in_folder("a.bmp");
    assert_int_equal(fxs_draw(m, NULL, &path, 1, NULL), FXS_EINVAL);
    assert_non_null(strstr(fxs_ctx_error(m->ctx), "known: svg, png, pdf, html, dot"));
    fxs_module_unref(m);
}

/* One of several can't be written: none of them appears, and what was there stays. */
static void all_or_none(void **state) {
    fxs_module *m = sample_module(*state);
    make_file(in_folder("old.svg"), "old");
    const char *paths[] = {in_folder("old.svg"), in_folder("new.png"), "/dev/full/x.svg"};
    assert_int_equal(fxs_draw(m, NULL, paths, 3, NULL), FXS_EIO);
    fxs_ctx_clear(m->ctx);
    assert_int_equal(symlink("/dev/full", in_folder("full.svg")), 0);
    paths[2] = in_folder("full.svg");
    assert_int_equal(fxs_draw(m, NULL, paths, 3, NULL), FXS_EIO);
    fxs_ctx_clear(m->ctx);
    unlink(paths[2]);
    assert_int_equal(file_size(paths[0]), 3);
    assert_int_equal(count_files(), 1);
    unlink(paths[0]);
    fxs_module_unref(m);
}

static void files_are_replaced(void **state) {
    fxs_module *m = sample_module(*state);
    const char *file = in_folder("real.svg"), *link = in_folder("link.svg");
    make_file(file, "old");
    chmod(file, 0640);
    assert_int_equal(symlink("real.svg", link), 0);
    assert_ok(*state, fxs_draw(m, NULL, &link, 1, NULL));
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode)); /* the link stays, its file is new */
    assert_true(file_size(file) > 1000);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(count_files(), 2);
    unlink(link);
    unlink(file);
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

/* ---- PNG
 * ----------------------------------------------------------------------------------------------------------
 */

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

static uint32_t big_endian(const char *s) {
    const unsigned char *u = (const unsigned char *)s;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static void png_size_and_resolution(void **state) {
    fxs_module *m = sample_module(*state);
    static const double dpis[] = {0, 72, 150};
    for (int i = 0; i < 3; i++) {
        size_t n, svg_n;
        char *png = draw(m, &(fxs_draw_options){.dpi = dpis[i]}, "png", &n),
             *svg = draw(m, NULL, "svg", &svg_n);
        double dpi = dpis[i] > 0 ? dpis[i] : 96, w, h;
        assert_int_equal(sscanf(strstr(svg, "viewBox"), "viewBox=\"0 0 %lf %lf\"", &w, &h), 2);
        assert_int_equal(big_endian(png + 16), (uint32_t)ceil(w * dpi / 72));
        assert_int_equal(big_endian(png + 20), (uint32_t)ceil(h * dpi / 72));
        const char *phys = memmem(png, n, "pHYs", 4);
        assert_non_null(phys);
        assert_int_equal(big_endian(phys + 4), (uint32_t)lround(dpi / 0.0254));
        fxs_free(png);
        fxs_free(svg);
    }
    fxs_module_unref(m);
}

/* Where a curve is cut at the edge of a band, cairo's shades along it may differ a little: in few
 * pixels, by little. */
static void assert_same_pixels(const pixels *a, const pixels *b) {
    size_t differing = 0;
    assert_int_equal(a->image.width, b->image.width);
    assert_int_equal(a->image.height, b->image.height);
    for (size_t i = 0; i < PNG_IMAGE_SIZE(a->image); i++) {
        differing += a->data[i] != b->data[i];
        assert_true(abs(a->data[i] - b->data[i]) <= 16);
    }
    assert_true(differing * 2000 < PNG_IMAGE_SIZE(a->image));
}

/* One picture drawn in bands of many heights, and in tiles: the same pixels. */
static void bands_do_not_show(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = sample_module(ctx);
    fxs_fonts *fonts;
    fxs_view v;
    fxs_scene s;
    fxs_buf notes = {0};
    assert_ok(ctx, fxs_fonts_new(ctx, false, &fonts));
    assert_ok(ctx, fxs_view_make(m, &(fxs_draw_options){.title = "Bands"}, fonts, &v));
    assert_ok(ctx, fxs_layout(ctx, &v, "layered", 60, NULL, &s, &notes));
    static const size_t memory[] = {(size_t)64 << 20, 400000, 70000, 1};
    pixels whole = {0};
    for (int i = 0; i < 4; i++) {
        fxs_canvas_options opt = FXS_CANVAS_DEFAULTS;
        fxs_sink sink;
        opt.band_bytes = memory[i];
        opt.tile = i == 0 ? 32767 : i == 1 ? 8192 : 100;
        opt.notes = &notes;
        fxs_sink_memory(&sink);
        assert_ok(ctx, fxs_canvas_png(ctx, &s, &opt, &sink));
        pixels p = decode(sink.buf.data, sink.buf.len);
        if (i == 0) {
            whole = p;
        } else {
            assert_same_pixels(&p, &whole);
            free(p.data);
        }
        fxs_sink_close(&sink);
    }
    free(whole.data);
    fxs_scene_free(&s);
    fxs_buf_free(&notes);
    fxs_view_free(&v);
    fxs_fonts_free(fonts);
    fxs_module_unref(m);
}

static void huge_png(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = chain_module(ctx, 700); /* about 45,000 pixels high */
    char *bytes, *notes;
    size_t n;
    fxs_draw_options opt = {.rows = FXS_ROW_NAME, .engine = "layered", .dpi = 96};
    assert_ok(ctx, fxs_draw_memory(m, &opt, "png", &bytes, &n, &notes));
    assert_true(big_endian(bytes + 20) > 32767);
    assert_non_null(strstr(notes, "some programs open no more than 32767"));
    fxs_free(bytes);
    fxs_free(notes);
    opt.png_fit = FXS_FIT_SCALE;
    assert_ok(ctx, fxs_draw_memory(m, &opt, "png", &bytes, &n, &notes));
    assert_int_equal(big_endian(bytes + 20), 32767);
    assert_non_null(strstr(notes, "png: scaled to "));
    fxs_free(bytes);
    fxs_free(notes);
    opt.png_fit = FXS_FIT_ERROR;
    assert_int_equal(fxs_draw_memory(m, &opt, "png", &bytes, &n, &notes), FXS_ELIMIT);
    assert_non_null(strstr(fxs_ctx_error(ctx), "32767"));
    fxs_free(notes);
    fxs_ctx_clear(ctx);
    opt.png_fit = FXS_FIT_FULL;
    opt.dpi = 2400; /* over a million rows */
    assert_int_equal(fxs_draw_memory(m, &opt, "png", &bytes, &n, &notes), FXS_ELIMIT);
    assert_non_null(strstr(fxs_ctx_error(ctx), "too many"));
    fxs_free(notes);
    fxs_module_unref(m);
}

/* ---- PDF
 * ----------------------------------------------------------------------------------------------------------
 */

static void pdf_pages(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = chain_module(ctx, 600);
    char *bytes, *notes;
    size_t n;
    assert_ok(ctx, fxs_draw_memory(m, &(fxs_draw_options){.engine = "layered"}, "pdf", &bytes, &n,
                                   &notes));
    assert_non_null(strstr(notes, "are more than a page can have"));
    assert_non_null(memmem(bytes, n, "14400", 5));
    assert_non_null(memmem(bytes, n, "20000101000000Z", 15));
    fxs_free(bytes);
    fxs_free(notes);
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    assert_ok(ctx, fxs_draw_memory(m, &(fxs_draw_options){.engine = "layered"}, "pdf", &bytes, &n,
                                   &notes));
    unsetenv("SOURCE_DATE_EPOCH");
    assert_non_null(memmem(bytes, n, "20231114221320Z", 15));
    fxs_free(bytes);
    fxs_free(notes);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_formats_at_once, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(unwritable_files, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(all_or_none, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(files_are_replaced, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(png_size_and_resolution, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(bands_do_not_show, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(huge_png, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(pdf_pages, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("render output", tests, make_folder, remove_folder);
}
