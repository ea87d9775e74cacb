/* thread_room.h: memory of its own for each thread, for what a kernel packs: pages that a thread
 * touches first cost more than a small product, and a stack's are 4 KiB each. Rooms of all threads
 * share huge pages. Called by kernels. */
#ifndef FXS_BASE_THREAD_ROOM_H
#define FXS_BASE_THREAD_ROOM_H

#include "base/mem.h"

enum { FXS_THREAD_ROOM = 292 << 10 }; /* seven of them in 2 MiB */

/* The calling thread's, aligned for vectors, with what its last user left there; the thread has it
 * until it ends. NULL when memory is out: use the stack. */
void *fxs_thread_room(void);
/* Has the calling thread's room in memory, and with it those of the next threads: before what is
 * measured, since a huge page takes long at its first touch. */
void fxs_thread_room_ready(void);
/* A room that no thread has, of a page that is in memory already; NULL when there is none. To be
 * given back by any thread. */
void *fxs_spare_room(void);
void fxs_spare_room_give(void *room);

#endif
