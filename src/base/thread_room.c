/* thread_room.c: see thread_room.h. A room that a thread leaves goes to the next that asks; rooms
 * are as many as the most threads at one time, and stay for the life of the process. */
#include "base/thread_room.h"

#include <pthread.h>

enum { PAGE = 1 << 21, ROOMS = PAGE / FXS_THREAD_ROOM };

/* At the start of a room that nobody has. */
typedef struct vacant {
    struct vacant *next;
} vacant;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its destructor runs when a thread ends */
static bool have_key;
static vacant *vacants;
static _Thread_local void *mine;

static char *page; /* the newest, and its rooms that nobody has had */
static int left;

static void leave(void *room) {
    pthread_mutex_lock(&lock);
    *(vacant *)room = (vacant){vacants};
    vacants = room;
    pthread_mutex_unlock(&lock);
}

static void make_key(void) { have_key = pthread_key_create(&key, leave) == 0; }

/* The lock is held. */
static void *next_of_page(void) { return left ? page + (size_t)--left * FXS_THREAD_ROOM : NULL; }

static void *any(void) {
    vacant *v = vacants;
    if (!v)
        return next_of_page();
    vacants = v->next;
    return v;
}

static void *take(bool make) {
    pthread_mutex_lock(&lock);
    void *room = any();
    if (!room && make) {
        page = fxs_alloc_data(PAGE);
        left = page ? ROOMS : 0;
        room = next_of_page();
    }
    pthread_mutex_unlock(&lock);
    return room;
}

void *fxs_thread_room(void) {
    if (mine)
        return mine;
    pthread_once(&once, make_key);
    void *room = have_key ? take(true) : NULL;
    if (room && pthread_setspecific(key, room) != 0) {
        leave(room);
        return NULL;
    }
    return mine = room;
}

void fxs_thread_room_ready(void) {
    volatile char *room = mine ? NULL : fxs_thread_room();
    if (room)
        *room = 0;
}

void *fxs_spare_room(void) { return take(false); }
void fxs_spare_room_give(void *room) { leave(room); }
