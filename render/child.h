/* child.h: runs a function in a forked child under limits and brings back what it writes. For code
 * that may exit, abort, hang or leak; knows nothing of layouts. */
#ifndef FXS_RENDER_CHILD_H
#define FXS_RENDER_CHILD_H

#include "base/sink.h"

/* Writes its answer to fd and returns whether it worked; the child then ends without running atexit
 * functions. */
typedef bool fxs_child_fn(int fd, const void *arg);

/* Calls fn in a child with no standard streams, and collects at most max_bytes. FXS_OK when it
 * returned true in time; otherwise a bad status and one line in `why`. Leaves no process and no
 * descriptor behind; works when SIGCHLD is ignored or handled by the program. */
fxs_status fxs_child_run(fxs_child_fn *fn, const void *arg, double seconds, size_t max_bytes,
                         fxs_buf *answer, fxs_buf *why);

#endif
