/* test_dot_child.c: Graphviz as it must not be: its gvLayout is replaced here by one that crashes,
 * exits, hangs, recurses without end or takes all memory. The picture is drawn all the same, by
 * layered, and the notes say why; no process, no file and no descriptor is left. */
#include <errno.h>
#include <graphviz/gvc.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "graphviz_library.h"
#include "render_testing.h"

#undef gvLayout /* here it is the pointer, which is set */

typedef int layout_fn(GVC_t *gvc, graph_t *g, const char *engine);

static enum { AS_IT_IS, SEGFAULT, NULL_WRITE, ABORT, EXIT, REFUSE, HANG, SPIN, RECURSE } manner;

static int dig(volatile const char *above);
static int (*volatile deeper)(volatile const char *) = dig; /* which no compiler looks through */

static int dig(volatile const char *above) {
    volatile char here[4096];
    here[0] = (char)(above[0] + 1);
    return deeper(here) + here[0];
}

static layout_fn *real;

/* Called in the place of libgvc's own. */
static int bad_layout(GVC_t *gvc, graph_t *g, const char *engine) {
    static volatile char ground[1];
    volatile int *volatile nowhere = NULL;
    switch (manner) {
    case SEGFAULT:
        raise(SIGSEGV);
        break;
    case NULL_WRITE:
        *nowhere = 1;
        break;
    case ABORT:
        abort();
    case EXIT:
        exit(0);
    case REFUSE:
        return -1;
    case HANG:
        for (;;)
            pause();
    case SPIN:
        for (volatile int i = 0;; i++)
            ;
    case RECURSE:
        return dig(ground);
    case AS_IT_IS:
        break;
    }
    return real(gvc, g, engine);
}

static void check(fxs_module *m, double seconds, const char *want) {
    int files = folder_entries("."), descriptors = folder_entries("/proc/self/fd");
    char *bytes, *notes;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_ok(m->ctx,
              fxs_draw_memory(m, &(fxs_draw_options){.engine = "dot", .layout_seconds = seconds},
                              "svg", &bytes, NULL, &notes));
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(xml_ok(bytes));
    if (want) {
        if (!strstr(notes, want) || !strstr(notes, "layout: arranged by layered instead"))
            fail_msg("manner %d: \"%s\" is not in: %s", (int)manner, want, notes);
    } else
        assert_string_equal(notes, "");
    assert_true(end.tv_sec - begin.tv_sec < 60); /* ends at all */
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child, not even a dead one */
    assert_int_equal(errno, ECHILD);
    assert_int_equal(folder_entries("."), files);
    assert_int_equal(folder_entries("/proc/self/fd"), descriptors);
    fxs_free(bytes);
    fxs_free(notes);
}

static void graphviz_fails(void **state) {
    static const struct {
        int manner;
        double seconds;
        const char *want;
    } rows[] = {
        {AS_IT_IS, 30, NULL},
        {SEGFAULT, 30, "layout: dot: crashed with signal 11"},
        {ABORT, 30, "layout: dot: crashed with signal 6"},
        {EXIT, 30, "layout: dot: ended without an answer"},
        {REFUSE, 30, "layout: dot: refused the graph"},
        {HANG, 0.3, "layout: dot: took too long, and was stopped"},
        {HANG, 30, "layout: dot: stood still, and was stopped"},
        {SPIN, 0.3, "layout: dot: took too long, and was stopped"},
#ifndef __SANITIZE_ADDRESS__ /* which catches these itself, and exits */
        {NULL_WRITE, 30, "layout: dot: crashed with signal 11"},
        {RECURSE, 30, "layout: dot: crashed with signal 11"},
#endif
        {AS_IT_IS, 30, NULL},
    };
    fxs_module *m = chain_module(*state, 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        manner = rows[i].manner;
        check(m, rows[i].seconds, rows[i].want);
    }
    fxs_module_unref(m);
}

int main(void) {
    fxs_buf why = {0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(graphviz_fails, new_ctx, free_ctx),
    };
    if (!fxs_library_open(&fxs_graphviz_library, &why)) {
        fprintf(stderr, "Graphviz can't be opened: %s\n", why.data);
        return 1;
    }
    real = fxs_graphviz.gvLayout;
    fxs_graphviz.gvLayout = bad_layout;
    return cmocka_run_group_tests_name("dot's child", tests, NULL, NULL);
}
