/* test_thread_room.c: rooms of threads: one a thread, apart from each other, used again by the next
 * thread, and done without where memory is out. */
#include "testing.h"

#include <pthread.h>

#include "base/thread_room.h"

enum { THREADS = 17 }; /* more than one page has rooms for */

typedef struct visit {
    pthread_barrier_t *all_here; /* NULL: alone */
    unsigned char mark;
    void *room;
    bool own, aligned;
} visit;

static bool filled_with(const unsigned char *room, unsigned char mark) {
    for (size_t i = 0; i < FXS_THREAD_ROOM; i++)
        if (room[i] != mark)
            return false;
    return true;
}

static void *use_room(void *user) {
    visit *v = user;
    unsigned char *room = v->room = fxs_thread_room();
    if (!room)
        return NULL;
    v->aligned = (uintptr_t)room % 64 == 0;
    memset(room, v->mark, FXS_THREAD_ROOM);
    if (v->all_here)
        pthread_barrier_wait(v->all_here);
    v->own = fxs_thread_room() == room && filled_with(room, v->mark);
    if (v->all_here)
        pthread_barrier_wait(v->all_here);
    return NULL;
}

static void run_threads(visit *v, int n) {
    pthread_t t[THREADS];
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&t[i], NULL, use_room, &v[i]), 0);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

static void rooms_are_apart(void **state) {
    pthread_barrier_t here;
    visit v[THREADS] = {{0}};
    (void)state;
    pthread_barrier_init(&here, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        v[i] = (visit){.all_here = &here, .mark = (unsigned char)(i + 1)};
    run_threads(v, THREADS);
    pthread_barrier_destroy(&here);
    for (int i = 0; i < THREADS; i++)
        assert_true(v[i].own && v[i].aligned);
}

static void a_left_room_is_used_again(void **state) {
    visit first = {.mark = 1}, second = {.mark = 2};
    (void)state;
    run_threads(&first, 1);
    run_threads(&second, 1);
    assert_ptr_equal(first.room, second.room);
}

static void room_is_ready(void **state) {
    (void)state;
    fxs_thread_room_ready();
    unsigned char *room = fxs_thread_room();
    room[0] = 7;
    fxs_thread_room_ready(); /* what is in use is left alone */
    assert_int_equal(room[0], 7);
}

static void spare_rooms_end_with_the_page(void **state) {
    void *spare[64];
    int n = 0;
    (void)state;
    assert_non_null(fxs_thread_room());
    while (n < 64 && (spare[n] = fxs_spare_room()) != NULL) {
        memset(spare[n], n, FXS_THREAD_ROOM);
        n++;
    }
    assert_in_range(n, 1, 63);
    for (int i = 0; i < n; i++)
        assert_true(filled_with(spare[i], (unsigned char)i));
    for (int i = 0; i < n; i++)
        fxs_spare_room_give(spare[i]);
    visit v = {.mark = 3};
    run_threads(&v, 1);
    assert_ptr_equal(v.room, spare[n - 1]);
}

/* In a process whose first room can't be made: the first test. */
static void without_memory(void **state) {
    visit refused = {.mark = 1}, given = {.mark = 2};
    (void)state;
    fxs_alloc_fail_after(0);
    run_threads(&refused, 1);
    fxs_alloc_fail_after(-1);
    assert_null(refused.room);
    assert_null(fxs_spare_room());
    run_threads(&given, 1);
    assert_true(given.own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory),
        cmocka_unit_test(rooms_are_apart),
        cmocka_unit_test(a_left_room_is_used_again),
        cmocka_unit_test(room_is_ready),
        cmocka_unit_test(spare_rooms_end_with_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
