/* say.c: see say.h. Standard error is written a line at a time, so that lines of two processes do
 * not mix. */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fxfile.h"

/* ---- standard error
 * ------------------------------------------------------------------------------------ */

/* The character at s and how many bytes it has; 0: what stands there is no UTF-8. */
static size_t decode(const char *s, unsigned *c) {
    const unsigned char *u = (const unsigned char *)s;
    size_t n = u[0] < 0x80   ? 1
               : u[0] < 0xc2 ? 0
               : u[0] < 0xe0 ? 2
               : u[0] < 0xf0 ? 3
               : u[0] < 0xf5 ? 4
                             : 0;
    *c = n < 2 ? u[0] : u[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80) /* the end of the text is such a byte, too */
            return 0;
        *c = *c << 6 | (u[i] & 0x3f);
    }
    return n;
}

/* Controls of ASCII and of ISO 6429, ends of lines and paragraphs, and what turns the direction of
 * writing. */
static bool steers(unsigned c) {
    return (c < ' ' && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e ||
           c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* A model's names are its author's: they must not steer the terminal. */
static void put_visible(const char *text) {
    size_t len = strlen(text);
    while (len && text[len - 1] == '\n')
        len--;
    unsigned c;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = decode(text + i, &c);
        if (c == '\n' && text[i + 1] == ' ')
            fputs("\n", stderr);
        else if (c == '\n')
            fputs("\n  ", stderr);
        else if (n == 0)
            fprintf(stderr, "\\x%02x", (unsigned char)text[i]);
        else if (steers(c))
            fprintf(stderr, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
        else
            fwrite(text + i, 1, n, stderr);
    }
    putc('\n', stderr);
}

static void say(const char *prefix, const char *fmt, va_list ap) {
    char small[512];
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    char *big = n >= (int)sizeof small ? malloc((size_t)n + 1) : NULL;
    if (big)
        vsnprintf(big, (size_t)n + 1, fmt, again);
    va_end(again);
    fflush(stdout); /* on a terminal both streams are one text */
    fputs(prefix, stderr);
    put_visible(big ? big : small); /* without memory: the message's beginning */
    free(big);
}

void cli_error(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say("fxscope: ", fmt, ap);
    va_end(ap);
}

void cli_note(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say("fxscope: note: ", fmt, ap);
    va_end(ap);
}

void cli_tell_notes(char *notes) {
    for (char *line = notes; line && *line;) {
        size_t len = strcspn(line, "\n");
        cli_note("%.*s", (int)len, line);
        line += len + (line[len] == '\n');
    }
    fxs_free(notes);
}

cli_exit cli_usage_error(const char *command, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say("fxscope: ", fmt, ap);
    va_end(ap);
    fprintf(stderr, "Try 'fxscope%s%s --help'.\n", command ? " " : "", command ? command : "");
    return CLI_USAGE;
}

cli_exit cli_no_memory(void) {
    cli_error("out of memory");
    return CLI_FAILURE;
}

/* ---- standard output
 * ----------------------------------------------------------------------------------- */

/* The first error of standard output; stdio keeps only that there was one. */
static int out_error;

static void keep_error(bool ok) {
    if (!ok && out_error == 0)
        out_error = errno ? errno : EIO;
}

void cli_out(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    errno = 0;
    keep_error(vprintf(fmt, ap) >= 0);
    va_end(ap);
}

void cli_out_bytes(const char *bytes, size_t len) {
    errno = 0;
    keep_error(fwrite(bytes, 1, len, stdout) == len);
}

cli_exit cli_out_end(void) {
    errno = 0;
    keep_error(fflush(stdout) == 0);
    errno = 0;
    keep_error(fclose(stdout) == 0);
    if (out_error == 0)
        return CLI_OK;
    if (out_error != EPIPE) /* who closed the pipe has read enough, and wants no complaint */
        cli_error("standard output can't be written: %s", strerror(out_error));
    return CLI_FAILURE;
}

cli_exit cli_write(fxs_ctx *ctx, const char *path, const char *bytes, size_t len) {
    if (!path || strcmp(path, "-") == 0) {
        cli_out_bytes(bytes, len);
        return CLI_OK; /* cli_out_end tells */
    }
    if (fxs_write_file(ctx, path, bytes, len) == FXS_OK)
        return CLI_OK;
    cli_error("%s", fxs_ctx_error(ctx));
    fxs_ctx_clear(ctx);
    return CLI_FAILURE;
}
