/* test_render_layout.c: the child that runs dot and all that can become of it; the choice of an
 * engine; what the engine "layered" promises; stock dot's agreement with the DOT text. */
#include "render_testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "render/child.h"
#include "render/layout.h"

/* ---- the child
 * ------------------------------------------------------------------------------------------------
 */

static bool says_hello(int fd, const void *arg) { return fxs_write_all(fd, arg, strlen(arg)); }
static bool says_no(int fd, const void *arg) {
    (void)fd;
    (void)arg;
    return false;
}
static bool exits(int fd, const void *arg) {
    (void)arg;
    if (fxs_write_all(fd, "half", 4))
        exit(0);
    return true;
}
static bool aborts(int fd, const void *arg) {
    (void)fd;
    (void)arg;
    raise(SIGABRT);
    return true;
}
static bool hangs(int fd, const void *arg) {
    (void)fd;
    (void)arg;
    while (pause())
        ;
    return true;
}
static bool floods(int fd, const void *arg) {
    (void)arg;
    while (fxs_write_all(fd, "flood flood flood flood ", 24))
        ;
    return true;
}

static int count_descriptors(void) {
    int n = 0;
    for (int fd = 0; fd < 200; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void check_child(fxs_child_fn *fn, double seconds, bool ok, const char *want) {
    fxs_buf answer = {0}, why = {0};
    int before = count_descriptors();
    fxs_status s = fxs_child_run(fn, "hello", seconds, 100000, &answer, &why);
    assert_int_equal(s == FXS_OK, ok);
    const char *got = ok ? answer.data : why.data;
    if (!got || !strstr(got, want))
        fail_msg("\"%s\" is not \"%s\"", got ? got : "", want);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
    fxs_buf_free(&answer);
    fxs_buf_free(&why);
}

static void children(void **state) {
    (void)state;
    check_child(says_hello, 10, true, "hello");
    check_child(says_no, 10, false, "refused");
    check_child(exits, 10, false, "without an answer");
    check_child(aborts, 10, false, "crashed with signal 6");
    check_child(hangs, 0.2, false, "took too long");
    check_child(floods, 10, false, "too much");
}

/* As when another thread held a lock at the fork: the first child waits for ever, the next does
 * not. */
static bool stalls_once(int fd, const void *arg) {
    const char *const *shared = arg;
    char *was_here = (char *)shared[0];
    if (!was_here[0]) {
        was_here[0] = 1;
        return hangs(fd, NULL);
    }
    return fxs_write_all(fd, shared[1], strlen(shared[1]));
}

static void a_child_that_stands_still_is_tried_again(void **state) {
    (void)state;
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    const char *shared[] = {page, "second"};
    fxs_buf answer = {0}, why = {0};
    assert_int_equal(fxs_child_run(stalls_once, shared, 30, 100, &answer, &why), FXS_OK);
    assert_string_equal(answer.data, "second");
    fxs_buf_free(&answer);
    fxs_buf_free(&why);
    munmap(page, 4096);
}

static void children_are_taken_away(void **state) {
    (void)state;
    signal(SIGCHLD, SIG_IGN); /* the kernel reaps: waitpid finds nobody */
    check_child(says_hello, 10, true, "hello");
    check_child(aborts, 10, false, "without an answer");
    check_child(hangs, 0.2, false, "took too long");
    signal(SIGCHLD, SIG_DFL);
}

static void on_alarm(int sig) { (void)sig; }

static bool is_slow(int fd, const void *arg) {
    struct timespec t = {.tv_nsec = 300 * 1000 * 1000};
    nanosleep(&t, NULL);
    return says_hello(fd, arg);
}

/* A timer of the program interrupts every system call, again and again. */
static void signals_interrupt(void **state) {
    (void)state;
    struct sigaction old, act = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &act, &old);
    const struct itimerspec often = {{0, 1000 * 1000}, {0, 1000 * 1000}}, never = {{0, 0}, {0, 0}};
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &often, NULL);
    fxs_buf answer = {0}, why = {0};
    assert_int_equal(fxs_child_run(is_slow, "hello", 10, 1000, &answer, &why), FXS_OK);
    timer_settime(timer, 0, &never, NULL);
    timer_delete(timer);
    sigaction(SIGALRM, &old, NULL);
    assert_string_equal(answer.data, "hello");
    fxs_buf_free(&answer);
    fxs_buf_free(&why);
}

/* The next `left` descriptors can be had, no more. */
static void limit_descriptors(int left, struct rlimit *old) {
    struct rlimit low;
    getrlimit(RLIMIT_NOFILE, old);
    low = *old;
    int fd = 0;
    for (; left || fcntl(fd, F_GETFD) >= 0; fd++)
        left -= fcntl(fd, F_GETFD) < 0;
    low.rlim_cur = (rlim_t)fd;
    setrlimit(RLIMIT_NOFILE, &low);
}

static void no_descriptors_left(void **state) {
    fxs_module *m = sample_module(*state);
    struct rlimit old;
    for (int left = 0; left < 12; left++) {
        char *bytes, *notes;
        const char *path = "/tmp/fxs-none.svg";
        limit_descriptors(left, &old);
        fxs_status s = fxs_draw_memory(m, NULL, "svg", &bytes, NULL, &notes),
                   file = fxs_draw(m, NULL, &path, 1, NULL);
        setrlimit(RLIMIT_NOFILE, &old);
        assert_int_equal(s, left < 8 ? FXS_EIO : FXS_OK);
        assert_int_equal(file, left < 9 ? FXS_EIO : FXS_OK);
        if (file != FXS_OK)
            assert_non_null(strstr(fxs_ctx_error(m->ctx), strerror(EMFILE)));
        fxs_ctx_clear(m->ctx);
        fxs_free(bytes);
        fxs_free(notes);
        unlink(path);
    }
    fxs_module_unref(m);
}

/* ---- choosing an engine
 * ----------------------------------------------------------------------------------------- */

static void dot_fails_layered_draws(void **state) {
    fxs_module *m = chain_module(*state, 400);
    char *bytes, *notes;
    assert_ok(*state,
              fxs_draw_memory(m, &(fxs_draw_options){.layout_seconds = 1e-6, .engine = "dot"},
                              "svg", &bytes, NULL, &notes));
    assert_true(xml_ok(bytes));
    assert_non_null(strstr(notes, "layout: dot: took too long"));
    assert_non_null(strstr(notes, "layout: arranged by layered instead"));
    fxs_free(bytes);
    fxs_free(notes);
    fxs_module_unref(m);
}

static void time_and_size_have_limits(void **state) {
    fxs_module *m = chain_module(*state, 400);
    char *bytes, *notes;
    static const fxs_draw_options late = {.layout_seconds = 1e-9}, large = {.max_nodes = 399},
                                  fits = {.max_nodes = 400};
    assert_int_equal(fxs_draw_memory(m, &late, "svg", &bytes, NULL, &notes), FXS_ELIMIT);
    assert_non_null(strstr(notes, "layout: layered: took longer than 1e-09 s"));
    const char *error = fxs_ctx_error(*state);
    assert_int_equal(strncmp(error, "layout: layered: took longer than 1e-09 s", 41), 0);
    assert_non_null(strstr(error, "; dot is not tried"));
    assert_non_null(strstr(error, "has 400 nodes and 399 edges: show less of it (--depth"));
    fxs_free(notes);
    fxs_ctx_clear(*state);
    assert_int_equal(fxs_draw_memory(m, &large, "svg", &bytes, NULL, &notes), FXS_ELIMIT);
    assert_non_null(strstr(fxs_ctx_error(*state), "400 nodes, and a picture may have 399"));
    fxs_free(notes);
    fxs_ctx_clear(*state);
    fxs_free(draw(m, &fits, "svg", NULL));
    fxs_module_unref(m);
}

/* Each node uses all before it: dot's own size grows with the cube. */
static void too_large_for_dot(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "Dense");
    fxs_value used[60];
    used[0] = fxs_of_node(add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL));
    for (size_t i = 1; i < 60; i++)
        used[i] = fxs_of_node(add_node(m, FXS_CALL_FUNCTION, "torch.cat",
                                       ONE(ctx, make_list(ctx, FXS_V_LIST, i, used)), NULL));
    char *bytes, *notes;
    assert_int_equal(fxs_draw_memory(m, &(fxs_draw_options){.layout_seconds = 1e-9}, "svg", &bytes,
                                     NULL, &notes),
                     FXS_ELIMIT);
    assert_non_null(strstr(notes, "dot is not tried"));
    assert_int_equal(strncmp(fxs_ctx_error(ctx), "layout: layered: took longer", 28), 0);
    assert_non_null(strstr(fxs_ctx_error(ctx), "; dot is not tried"));
    assert_non_null(strstr(fxs_ctx_error(ctx), "60 nodes and 1770 edges"));
    fxs_free(notes);
    fxs_module_unref(m);
}

static fxs_status engine_breaks(const fxs_view *v, double seconds, fxs_scene *s, fxs_buf *why) {
    (void)v;
    (void)seconds;
    s->boxes[0].x = 12345; /* half done */
    fxs_buf_puts(why, "broke");
    return FXS_ELIMIT;
}

static void engines_in_turn(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_engine breaks = {.name = "broken", .run = engine_breaks};
    static const fxs_engine *const both[] = {&breaks, &fxs_engine_layered, NULL}, *const none[] = {
                                                                                      &breaks,
                                                                                      NULL};
    fxs_module *m = sample_module(ctx);
    fxs_fonts *fonts;
    fxs_view v;
    fxs_scene s;
    fxs_buf notes = {0};
    assert_ok(ctx, fxs_fonts_new(ctx, true, &fonts));
    assert_ok(ctx, fxs_view_make(m, &(fxs_draw_options){0}, fonts, &v));
    assert_ok(ctx, fxs_layout(ctx, &v, NULL, 60, both, &s, &notes));
    assert_string_equal(notes.data, "layout: broken: broke\nlayout: arranged by layered instead\n");
    assert_true(s.boxes[0].x < 1000);
    fxs_scene_free(&s);
    assert_int_equal(fxs_layout(ctx, &v, NULL, 60, none, &s, &notes), FXS_ELIMIT);
    assert_string_equal(fxs_ctx_error(ctx), "layout: broken: broke");
    fxs_scene_free(&s);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_layout(ctx, &v, "dot", 60, both, &s, &notes), FXS_EINVAL);
    fxs_scene_free(&s);
    fxs_buf_free(&notes);
    fxs_view_free(&v);
    fxs_fonts_free(fonts);
    fxs_module_unref(m);
}

/* ---- what a layout promises
 * ---------------------------------------------------------------------------------------
 */

/* A net with skips over 1, 2, 3, ... nodes and nodes of many widths, the same for the same seed. */
static fxs_module *random_module(fxs_ctx *ctx, int n, unsigned seed) {
    fxs_module *m = new_graph_module(ctx, "Random");
    fxs_value nodes[200];
    for (int i = 0; i < n; i++) {
        char target[80];
        fxs_value args[3];
        size_t count = 0;
        for (; count < 3 && (int)count < i; count++) {
            seed = seed * 1103515245 + 12345;
            int back = 1 + (int)(seed >> 16) % (count ? 12 : 2);
            args[count] = nodes[i > back ? i - back : 0];
        }
        seed = seed * 1103515245 + 12345;
        snprintf(target, sizeof target, "torch.%.*s", 1 + (int)(seed >> 16) % 60,
                 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        nodes[i] = fxs_of_node(
            add_node(m, i % 17 ? FXS_CALL_FUNCTION : FXS_GET_ATTR, target,
                     i % 17 ? make_list(ctx, FXS_V_TUPLE, count, args) : fxs_none(), NULL));
    }
    return m;
}

static bool inside(const fxs_scene *s, size_t node, fxs_point p) {
    const fxs_label *l = &s->view->nodes[node].label;
    const fxs_box *b = &s->boxes[node];
    return p.x > b->x + 1 && p.x < b->x + l->w - 1 && p.y > b->y + 1 && p.y < b->y + l->h - 1;
}

static void check_overlaps(const fxs_scene *s) {
    for (size_t i = 0; i < s->view->nnodes; i++) {
        const fxs_label *a = &s->view->nodes[i].label;
        assert_true(s->boxes[i].x == floor(s->boxes[i].x) && s->boxes[i].y == floor(s->boxes[i].y));
        assert_true(s->boxes[i].x >= 0 && s->boxes[i].x + a->w <= s->w);
        assert_true(s->boxes[i].y >= 0 && s->boxes[i].y + a->h <= s->h);
        for (size_t k = 0; k < i; k++) {
            const fxs_label *b = &s->view->nodes[k].label;
            assert_true(
                s->boxes[i].x >= s->boxes[k].x + b->w || s->boxes[k].x >= s->boxes[i].x + a->w ||
                s->boxes[i].y >= s->boxes[k].y + b->h || s->boxes[k].y >= s->boxes[i].y + a->h);
        }
    }
}

static fxs_point on_curve(const fxs_point *p, double t) {
    double a = (1 - t) * (1 - t) * (1 - t), b = 3 * t * (1 - t) * (1 - t), c = 3 * t * t * (1 - t),
           d = t * t * t;
    return (fxs_point){a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x,
                       a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

static void check_no_edge_through_text(const fxs_scene *s) {
    for (size_t i = 0; i < s->view->nedges; i++)
        for (size_t k = 0; k + 3 < s->curves[i].n; k += 3)
            for (int step = 0; step <= 10; step++)
                for (size_t node = 0; node < s->view->nnodes; node++)
                    assert_false(inside(s, node, on_curve(&s->curves[i].points[k], step / 10.0)));
}

static void layered_is_tidy(void **state) {
    fxs_ctx *ctx = *state;
    static const char *const directions[] = {"TB", "LR"};
    for (unsigned seed = 1; seed <= 10; seed++) {
        fxs_module *m = random_module(ctx, 20 + (int)seed * 15, seed);
        fxs_fonts *fonts;
        fxs_view v;
        fxs_scene s;
        fxs_buf notes = {0};
        assert_ok(ctx, fxs_fonts_new(ctx, true, &fonts));
        assert_ok(ctx, fxs_view_make(m, &(fxs_draw_options){.direction = directions[seed % 2]},
                                     fonts, &v));
        assert_ok(ctx, fxs_layout(ctx, &v, "layered", 60, NULL, &s, &notes));
        check_overlaps(&s);
        check_no_edge_through_text(&s);
        for (size_t i = 0; i < v.nedges; i++)
            assert_true(s.curves[i].n >= 4 && s.curves[i].n % 3 == 1);
        fxs_scene_free(&s);
        fxs_buf_free(&notes);
        fxs_view_free(&v);
        fxs_fonts_free(fonts);
        fxs_module_unref(m);
    }
}

static void long_chain(void **state) {
    fxs_module *m = chain_module(*state, 5000);
    char *svg = draw(m, &(fxs_draw_options){.engine = "layered"}, "svg", NULL);
    assert_int_equal(count_of(svg, "<g id=\"node-"), 5000);
    assert_int_equal(count_of(svg, "<g id=\"edge-"), 4999);
    fxs_free(svg);
    fxs_module_unref(m);
}

/* Places of nodes as stock dot gives them for the DOT text (-Tplain: inches, y up) against the
 * SVG's boxes. */
static void stock_dot_agrees(void **state) {
    if (system("command -v dot >/dev/null") != 0) {
        print_message("# not compared: Graphviz' own dot command is not installed here\n");
        skip();
    }
    fxs_module *m = random_module(*state, 60, 7);
    char path[] = "/tmp/fxs-agree-XXXXXX", command[100], line[4096], name[200], quoted[260];
    close(mkstemp(path));
    char *dot = draw(m, NULL, "dot", NULL),
         *svg = draw(m, &(fxs_draw_options){.engine = "dot"}, "svg", NULL);
    FILE *f = fopen(path, "w");
    fputs(dot, f);
    fclose(f);
    snprintf(command, sizeof command, "dot -Tplain %s 2>/dev/null", path);
    f = popen(command, "r");
    double scale, w, h = 0, x, y, bw, bh, dx = NAN, dy = NAN;
    int seen = 0;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "graph %lf %lf %lf", &scale, &w, &h) == 3 ||
            sscanf(line, "node %199s %lf %lf %lf %lf", name, &x, &y, &bw, &bh) != 5)
            continue;
        snprintf(quoted, sizeof quoted, "<g id=\"node-%s\" ", name);
        const char *at = strstr(svg, quoted);
        at = at ? strstr(at, "<rect class=\"table\" x=\"") : NULL;
        double bx, by;
        assert_non_null(at);
        assert_int_equal(sscanf(at, "<rect class=\"table\" x=\"%lf\" y=\"%lf\"", &bx, &by), 2);
        double gx = bx - (x - bw / 2) * 72, gy = by - (h - y - bh / 2) * 72;
        dx = isnan(dx) ? gx : dx;
        dy = isnan(dy) ? gy : dy;
        assert_true(fabs(gx - dx) < 2 &&
                    fabs(gy - dy) < 2); /* rounding, and the pixel grid of tables */
        seen++;
    }
    pclose(f);
    unlink(path);
    assert_int_equal(seen, 60);
    fxs_free(dot);
    fxs_free(svg);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children),
        cmocka_unit_test(a_child_that_stands_still_is_tried_again),
        cmocka_unit_test(children_are_taken_away),
        cmocka_unit_test(signals_interrupt),
        cmocka_unit_test_setup_teardown(no_descriptors_left, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(dot_fails_layered_draws, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(time_and_size_have_limits, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(too_large_for_dot, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(engines_in_turn, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(layered_is_tidy, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(long_chain, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(stock_dot_agrees, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("render layout", tests, NULL, NULL);
}
