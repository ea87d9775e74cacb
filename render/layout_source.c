/* layout_source.c: any DOT text as a picture, by Graphviz's own layout and writers: for programs
 * that make DOT themselves. In a child, since libgvc can exit, abort, hang and leak. */
#include <string.h>

#include <graphviz/gvc.h>

#include "child.h"
#include "graphviz_library.h"
#include "layout.h"

typedef struct job {
    const char *dot, *format;
} job;

enum { MAX_PICTURE = 1 << 30 };

/* Graphviz's words, with a 'E' before them, as the answer. */
static bool say_error(int fd) {
    const char *text = aglasterr();
    text = text && *text ? text : "it is no graph in the DOT language";
    return fxs_write_all(fd, "E", 1) && fxs_write_all(fd, text, strlen(text));
}

static int keep_quiet(char *text) {
    (void)text;
    return 0;
}

static bool render(int fd, const void *arg) {
    const job *j = arg;
    char *data = NULL;
    unsigned len = 0;
    agseterrf(keep_quiet);
    GVC_t *gvc = gvContext();
    Agraph_t *g = gvc ? agmemread(j->dot) : NULL;
    if (!g)
        return say_error(fd);
    if (gvLayout(gvc, g, "dot") != 0 || gvRenderData(gvc, g, j->format, &data, &len) != 0 || !data)
        return say_error(fd);
    return fxs_write_all(fd, "P", 1) && fxs_write_all(fd, data, len);
}

static const char *const formats[] = {"svg", "png", "pdf", "dot", "gv", "canon", "xdot", NULL};

fxs_status fxs_draw_dot(fxs_ctx *ctx, const char *dot, const char *format, double seconds,
                        char **bytes, size_t *len) {
    fxs_buf answer = {0}, why = {0};
    size_t i = 0;
    size_t unwanted;
    *bytes = NULL;
    len = len ? len : &unwanted;
    *len = 0;
    FXS_TRY(fxs_need_text(ctx, dot, "fxs_draw_dot: the DOT text"));
    FXS_TRY(fxs_need_text(ctx, format, "fxs_draw_dot: format"));
    while (formats[i] && strcmp(formats[i], format) != 0)
        i++;
    if (!formats[i])
        return fxs_fail(ctx, FXS_EINVAL, "DOT can be drawn as svg, png, pdf, dot, not as '%s'",
                        format);
    FXS_TRY(fxs_library_need(ctx, &fxs_graphviz_library, "Graphviz"));
    fxs_status s = fxs_child_run(render, &(job){dot, format}, seconds > 0 ? seconds : 60,
                                 MAX_PICTURE, &answer, &why);
    fxs_buf_add(&why, "", 0);
    if (s != FXS_OK)
        s = fxs_fail(ctx, s, "the DOT text could not be drawn: %s", why.data ? why.data : "");
    else if (answer.len < 2 || answer.data[0] != 'P')
        s = fxs_fail(ctx, FXS_EPARSE, "the DOT text could not be drawn: %.*s",
                     answer.len > 1 ? (int)answer.len - 1 : 0, answer.data + 1);
    else {
        memmove(answer.data, answer.data + 1, answer.len - 1);
        fxs_buf_cut(&answer, answer.len - 1);
        s = fxs_buf_give(ctx, &answer, bytes, len);
    }
    fxs_buf_free(&answer);
    fxs_buf_free(&why);
    return s;
}
