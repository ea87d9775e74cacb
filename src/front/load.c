/* load.c: reads a file or standard input and gives it to the front end that knows it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/front.h"

static const fxs_front *const fronts[] = {&fxs_front_text};
enum { NFRONTS = sizeof fronts / sizeof *fronts };

static bool has_extension(const fxs_front *f, const char *path) {
    const char *dot = strrchr(path, '.');
    size_t n = dot ? strlen(dot) : 0;
    for (const char *e = f->extensions; n && *e;) {
        size_t len = strcspn(e, " ");
        if (len == n && memcmp(e, dot, n) == 0)
            return true;
        e += len + strspn(e + len, " ");
    }
    return false;
}

static const fxs_front *choose_front(const char *path, const char *text, size_t len) {
    for (int i = 0; i < NFRONTS; i++)
        if (has_extension(fronts[i], path))
            return fronts[i];
    for (int i = 0; i < NFRONTS; i++)
        if (fronts[i]->sniff(text, len))
            return fronts[i];
    return &fxs_front_text;
}

/* `size` is what it is said to hold, 0: not known. It may hold more or less. */
static fxs_status read_all(fxs_ctx *ctx, const char *name, int fd, size_t size, fxs_buf *out) {
    enum { PIECE = 65536 };
    size_t room = size ? size + 1 : PIECE;
    for (;;) {
        char *to = fxs_buf_room(out, room);
        if (!to)
            return fxs_fail_memory(ctx);
        ssize_t n = read(fd, to, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fxs_fail(ctx, FXS_EIO, "%s: can't be read: %s", name, strerror(errno));
        if (n == 0)
            return FXS_OK;
        fxs_buf_wrote(out, (size_t)n);
        room = room > (size_t)n ? room - (size_t)n : PIECE;
    }
}

/* A large text is read into a huge page: to get as many small ones takes longer than to read it.
 * Where there is none, it is read as any other. */
static void take_huge_pages(fxs_buf *out, size_t size) {
    enum { LARGE = 1 << 19, HUGE_PAGE = 1 << 21 };
    size_t room = (size / HUGE_PAGE + 1) * HUGE_PAGE;
    if (size < LARGE || room < size)
        return;
    out->data = fxs_alloc_data(room);
    out->cap = out->data ? room : 0;
}

static fxs_status read_file(fxs_ctx *ctx, const char *path, fxs_buf *out) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fxs_fail(ctx, FXS_EIO, "%s: can't be opened: %s", path, strerror(errno));
    fxs_status s;
    bool known = fstat(fd, &st) == 0;
    size_t size = known && S_ISREG(st.st_mode) ? (size_t)st.st_size : 0;
    if (known && S_ISDIR(st.st_mode)) {
        s = fxs_fail(ctx, FXS_EIO, "%s: is a directory; a model file is expected", path);
    } else {
        take_huge_pages(out, size);
        s = read_all(ctx, path, fd, size, out);
    }
    close(fd);
    return s;
}

static fxs_status load_with(fxs_ctx *ctx, const fxs_front *front, const char *name,
                            const char *text, size_t len, fxs_module **out) {
    FXS_TRY(front->load(ctx, name, text, len, out));
    fxs_status s = fxs_module_name_parameters(*out);
    if (s != FXS_OK) {
        fxs_module_unref(*out);
        *out = NULL;
    }
    return s;
}

fxs_status fxs_load(fxs_ctx *ctx, const char *path, const char *front, fxs_module **out) {
    const fxs_front *chosen = NULL;
    *out = NULL;
    FXS_TRY(fxs_need_text(ctx, path, "fxs_load: path"));
    bool standard_input = strcmp(path, "-") == 0;
    const char *name = standard_input ? "<stdin>" : path;
    fxs_buf text = {0};
    for (int i = 0; front && i < NFRONTS; i++)
        if (strcmp(fronts[i]->name, front) == 0)
            chosen = fronts[i];
    if (front && !chosen)
        return fxs_fail(ctx, FXS_EINVAL, "there is no front end '%s'; known: text", front);
    fxs_status s =
        standard_input ? read_all(ctx, name, STDIN_FILENO, 0, &text) : read_file(ctx, path, &text);
    if (s == FXS_OK) {
        fxs_buf_add(&text, "", 0);
        s = fxs_buf_status(ctx, &text);
    }
    if (s == FXS_OK)
        s = load_with(ctx, chosen ? chosen : choose_front(path, text.data, text.len), name,
                      text.data, text.len, out);
    fxs_buf_free(&text);
    return s;
}

fxs_status fxs_load_text(fxs_ctx *ctx, const char *name, const char *text, size_t len,
                         fxs_module **out) {
    *out = NULL;
    FXS_TRY(fxs_need_text(ctx, name, "fxs_load_text: name"));
    FXS_TRY(fxs_need(ctx, text, "fxs_load_text: text"));
    char *copy = fxs_memdup0(text, len); /* the parser relies on the NUL behind it */
    if (!copy)
        return fxs_fail_memory(ctx);
    fxs_status s = load_with(ctx, choose_front(name, copy, len), name, copy, len, out);
    fxs_free(copy);
    return s;
}
