/* say.h: everything that the command tells its user: messages on standard error, texts on standard
 * output or into a file. It knows nothing of models. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "cli.h"

/* "fxscope: MESSAGE" on standard error. Further lines of the message are indented, control
 * characters shown as \xNN. */
void cli_error(const char *fmt, ...) FXS_PRINTF(1, 2);
/* "fxscope: note: MESSAGE" */
void cli_note(const char *fmt, ...) FXS_PRINTF(1, 2);
/* One note a line of what the library gave, and frees it; NULL is none. */
void cli_tell_notes(char *notes);
/* The message, and then where help is to be found; gives CLI_USAGE. `command` may be NULL. */
cli_exit cli_usage_error(const char *command, const char *fmt, ...) FXS_PRINTF(2, 3);
/* For memory that is out; gives CLI_FAILURE. */
cli_exit cli_no_memory(void);

/* Standard output, buffered; cli_out_end tells whether it all arrived. */
void cli_out(const char *fmt, ...) FXS_PRINTF(1, 2);
void cli_out_bytes(const char *bytes, size_t len);
/* Flushes and closes standard output. A failure is CLI_FAILURE with a message; a closed pipe is one
 * without. */
cli_exit cli_out_end(void);
/* Writes a text into a file, which appears when it is whole, or to standard output for "-" or NULL.
 */
cli_exit cli_write(fxs_ctx *ctx, const char *path, const char *bytes, size_t len);

#endif
