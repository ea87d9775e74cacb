/* heap.h: the heap of a command that reads a large model. */
#ifndef FXS_CLI_HEAP_H
#define FXS_CLI_HEAP_H

/* Called before the file at `path` is read. */
void cli_heap_for(const char *path);

#endif
