/* sink.c: see sink.h. Called by drawing, and by the writer of weights. */
#include "base/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapping.h"
#include "base/unfinished.h"

enum { CHUNK = 1 << 16, TRIES = 100 };

bool fxs_write_all(int fd, const void *data, size_t n) {
    const char *p = data;
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno != EINTR)
            return false;
        if (k > 0) {
            p += k;
            n -= (size_t)k;
        }
    }
    return true;
}

static fxs_status fail_io(fxs_ctx *ctx, const char *path, int error) {
    return fxs_fail(ctx, FXS_EIO, "%s: can't be written: %s", path, strerror(error));
}

static fxs_status fail_open(fxs_ctx *ctx, const char *path, int error) {
    return fxs_fail(ctx, FXS_EIO, "%s: can't be opened for writing: %s", path, strerror(error));
}

void fxs_sink_memory(fxs_sink *s) { *s = (fxs_sink){.fd = -1}; }

/* A new file in the target's folder. Its name is made of the process and a count, so that the
 * kernel's umask decides about its mode. EEXIST from a crashed process's leftovers leads to the
 * next count. */
static bool open_beside(fxs_sink *s) {
    static atomic_uint count;
    const char *slash = strrchr(s->target, '/');
    int folder = slash ? (int)(slash - s->target) + 1 : 0;
    for (int i = 0; i < TRIES; i++) {
        fxs_buf name = {0};
        fxs_buf_printf(&name, "%.*s.fxscope-%ld-%u", folder, s->target, (long)getpid(),
                       atomic_fetch_add(&count, 1));
        char *text = fxs_buf_take(&name, NULL);
        if (!text) {
            errno = ENOMEM;
            return false;
        }
        s->place = fxs_unfinished_add(text); /* first: then there is no moment without */
        if (!s->place)
            fxs_free(text);
        errno = ENOMEM;
        s->fd = s->place ? open(text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
        if (s->fd >= 0) {
            s->temporary = text;
            return true;
        }
        int error = errno;
        fxs_unfinished_done(s->place);
        s->place = NULL;
        errno = error;
        if (error != EEXIST)
            return false;
    }
    return false;
}

/* Where the bytes end up: the file behind links. NULL when memory is out, or with a reason in
 * errno. */
static char *find_target(const char *path, bool is_link) {
    char *real = is_link ? realpath(path, NULL) : NULL;
    if (is_link && !real)
        return NULL;
    errno = 0;
    char *copy = fxs_memdup0(real ? real : path, strlen(real ? real : path));
    free(real);
    return copy;
}

fxs_status fxs_sink_open(fxs_ctx *ctx, const char *path, fxs_sink *s) {
    struct stat st, link;
    *s = (fxs_sink){.path = path, .fd = -1};
    bool there = stat(path, &st) == 0;
    bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    bool direct = there ? !S_ISREG(st.st_mode) : is_link; /* of one that leads nowhere yet too */
    if (!direct && !(s->target = find_target(path, is_link)))
        return errno && errno != ENOMEM ? fail_open(ctx, path, errno) : fxs_fail_memory(ctx);
    if (there && S_ISREG(st.st_mode) &&
        access(path, W_OK) != 0) /* a file that is protected is not replaced either */
        return fail_open(ctx, path, errno);
    if (s->target && open_beside(s)) {
        if (there && fchmod(s->fd, st.st_mode & 07777) != 0)
            s->error = errno;
        return s->error ? fail_open(ctx, path, s->error) : FXS_OK;
    }
    if (s->target && !(there && errno == EACCES)) /* no folder, no descriptor, a read-only disk */
        return errno == ENOMEM ? fxs_fail_memory(ctx) : fail_open(ctx, path, errno);
    fxs_free(s->target);
    s->target = NULL;
    s->held = there && S_ISREG(st.st_mode);
    s->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    return s->fd < 0 ? fail_open(ctx, path, errno) : FXS_OK;
}

fxs_status fxs_check_file(fxs_ctx *ctx, const char *path) {
    struct stat st;
    fxs_sink s;
    FXS_TRY(fxs_need_text(ctx, path, "fxs_check_file: path"));
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return fail_open(ctx, path, EISDIR);
    if (there && !S_ISREG(st.st_mode)) /* to open a pipe waits for its reader */
        return FXS_OK;
    if (!there && lstat(path, &st) == 0) /* a link that leads nowhere yet: opening makes the file */
        return FXS_OK;
    fxs_status status = fxs_sink_open(ctx, path, &s);
    fxs_sink_close(&s);
    return status;
}

static void flush(fxs_sink *s) {
    if (!s->error && s->buf.len && !fxs_write_all(s->fd, s->buf.data, s->buf.len))
        s->error = errno;
    fxs_buf_cut(&s->buf, 0);
}

void fxs_sink_write(fxs_sink *s, const void *data, size_t n) {
    if (s->error)
        return;
    if (s->path && !s->held && n >= CHUNK) { /* much at once is not copied first */
        flush(s);
        if (!s->error && !fxs_write_all(s->fd, data, n))
            s->error = errno;
        return;
    }
    fxs_buf_add(&s->buf, data, n);
    if (s->path && !s->held && s->buf.len >= CHUNK)
        flush(s);
}

static fxs_status close_file(fxs_ctx *ctx, fxs_sink *s) {
    int fd = s->fd;
    s->fd = -1;
    if (close(fd) != 0 && !s->error)
        s->error = errno;
    return s->error ? fail_io(ctx, s->path, s->error) : FXS_OK;
}

fxs_status fxs_sink_finish(fxs_ctx *ctx, fxs_sink *s) {
    if (s->buf.failed)
        return fxs_fail_memory(ctx);
    if (!s->path || s->held)
        return FXS_OK;
    flush(s);
    return close_file(ctx, s);
}

bool fxs_sink_overwrites(const fxs_sink *s, const fxs_mapping *file) {
    struct stat st;
    return s->held && fstat(s->fd, &st) == 0 && st.st_dev == file->device &&
           st.st_ino == file->inode;
}

static void forget_temporary(fxs_sink *s) {
    fxs_unfinished_done(s->place);
    s->place = NULL;
    s->temporary = NULL;
}

fxs_status fxs_sink_commit(fxs_ctx *ctx, fxs_sink *s) {
    if (s->held) {
        if (ftruncate(s->fd, 0) != 0)
            s->error = errno;
        flush(s);
        return close_file(ctx, s);
    }
    if (!s->temporary)
        return FXS_OK;
    if (rename(s->temporary, s->target) != 0)
        return fail_io(ctx, s->path, errno);
    forget_temporary(s);
    return FXS_OK;
}

void fxs_sink_close(fxs_sink *s) {
    if (s->fd >= 0)
        close(s->fd);
    if (s->temporary)
        unlink(s->temporary);
    forget_temporary(s);
    fxs_free(s->target);
    fxs_buf_free(&s->buf);
}

fxs_status fxs_write_file(fxs_ctx *ctx, const char *path, const char *bytes, size_t len) {
    FXS_TRY(fxs_need_text(ctx, path, "fxs_write_file: path"));
    if (!bytes && len)
        return fxs_fail(ctx, FXS_EINVAL, "fxs_write_file: bytes is NULL");
    fxs_sink s;
    fxs_status status = fxs_sink_open(ctx, path, &s);
    if (status == FXS_OK) {
        fxs_sink_write(&s, bytes, len);
        status = fxs_sink_finish(ctx, &s);
    }
    if (status == FXS_OK)
        status = fxs_sink_commit(ctx, &s);
    fxs_sink_close(&s);
    return status;
}
