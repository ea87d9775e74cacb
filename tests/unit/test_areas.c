/* test_areas.c: areas by number: those that touch a part are found in their order, none is left
 * out, and far ones are not looked at one by one. */
#include "testing.h"

#include "render/areas.h"

enum { MOST = 5000 };

static unsigned long seed = 1;
static double some(double most) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 33 & 0x7fffffff) / 0x7fffffff * most;
}

static fxs_area some_area(double around, double size) {
    fxs_area a = {{around + some(size), some(300)}, {0, 0}};
    a.high = (fxs_point){a.low.x + some(size), a.low.y + some(size)};
    return a;
}

static void check_all(const fxs_areas *t, const fxs_area *in) {
    size_t i = 0;
    FXS_AREAS_EACH (k, *t, *in) {
        for (; i < k; i++)
            assert_false(fxs_area_touches(&t->level[0][i], in));
        assert_true(fxs_area_touches(&t->level[0][i++], in));
    }
    for (; i < t->n; i++)
        assert_false(fxs_area_touches(&t->level[0][i], in));
}

static void all_that_touch(void **state) {
    (void)state;
    static const size_t sizes[] = {0,   1,   2,   15,  16,   17,   31,   32,
                                   255, 256, 257, 272, 4095, 4096, 4097, MOST};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        fxs_arena a = {0};
        fxs_areas t;
        assert_true(fxs_areas_open(&t, sizes[k], &a));
        for (size_t i = 0; i < t.n; i++) /* near their neighbours; few reach far, few are nothing */
            t.level[0][i] = some(30) < 1   ? fxs_area_none()
                            : some(90) < 1 ? some_area(0, MOST)
                                           : some_area((double)i, 20);
        fxs_areas_close(&t);
        for (int n = 0; n < 60; n++) {
            fxs_area in = some_area(some(1.2 * MOST) - 200, some(n % 2 ? 5 : 900));
            check_all(&t, &in);
        }
        check_all(&t, &(fxs_area){{-INFINITY, -INFINITY}, {INFINITY, INFINITY}});
        fxs_area nothing = fxs_area_none();
        check_all(&t, &nothing);
        fxs_arena_clear(&a);
    }
}

/* What is far is not looked at: all but the first area of a block that does not touch may say what
 * they like. */
static void far_blocks_are_passed(void **state) {
    (void)state;
    fxs_arena a = {0};
    fxs_areas t;
    assert_true(fxs_areas_open(&t, MOST, &a));
    for (size_t i = 0; i < t.n; i++)
        t.level[0][i] = (fxs_area){{(double)i, 0}, {(double)i + 0.5, 1}};
    fxs_areas_close(&t);
    fxs_area in = {{1000, 0}, {1010, 1}};
    size_t n = 0, first = 1000 / FXS_AREAS_BLOCK * FXS_AREAS_BLOCK,
           end = (1010 / FXS_AREAS_BLOCK + 1) * FXS_AREAS_BLOCK;
    for (size_t i = 0; i < t.n; i++)
        if ((i < first || i >= end) && i % FXS_AREAS_BLOCK)
            t.level[0][i] = in;
    FXS_AREAS_EACH (i, t, in) {
        assert_int_equal(i, 1000 + n);
        n++;
    }
    assert_int_equal(n, 11);
    fxs_arena_clear(&a);
}

static void without_memory(void **state) {
    (void)state;
    for (long n = 0; n < 100; n++) {
        fxs_arena a = {0};
        fxs_areas t;
        fxs_alloc_fail_after(n);
        bool ok = fxs_areas_open(&t, 1000000, &a);
        fxs_alloc_fail_after(-1);
        fxs_arena_clear(&a);
        if (ok)
            return;
    }
    fail_msg("memory is never enough");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_touch),
        cmocka_unit_test(far_blocks_are_passed),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
