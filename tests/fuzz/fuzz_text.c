/* fuzz_text.c: any bytes as a model file: load, lint, run in META, print, load what was printed.
 * Built with a fuzzer's driver it searches (see replay.c for how); with replay.c it runs the corpus
 * as an ordinary test. */
#include <stdlib.h>
#include <string.h>

#include "fxscope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was printed must read back and print the same. */
static void round_trip(fxs_ctx *ctx, const fxs_module *m) {
    char *once = NULL, *twice = NULL;
    size_t len;
    fxs_module *again = NULL;
    if (fxs_module_print_file(m, 0, &once, &len) != FXS_OK)
        abort();
    /* Text that holds a line break inside a string may read differently; what it reads as must not
     * crash. */
    if (fxs_load_text(ctx, "printed", once, len, &again) == FXS_OK) {
        if (fxs_module_print_file(again, 0, &twice, NULL) != FXS_OK)
            abort();
        fxs_module_unref(again);
    }
    fxs_free(once);
    fxs_free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m = NULL;
    char *text;
    if (!ctx)
        return 0;
    if (fxs_load_text(ctx, "fuzz", (const char *)data, size, &m) == FXS_OK) {
        fxs_graph_lint(fxs_module_graph(m));
        fxs_ctx_clear(ctx);
        fxs_run(m, NULL, &(fxs_run_options){.mode = FXS_RUN_META}, NULL);
        fxs_ctx_clear(ctx);
        if (fxs_module_print_table(m, FXS_TABLE_JSON, &text, NULL) == FXS_OK)
            fxs_free(text);
        if (fxs_graph_print_tabular(fxs_module_graph(m), &text, NULL) == FXS_OK)
            fxs_free(text);
        fxs_ctx_clear(ctx);
        round_trip(ctx, m);
        fxs_module_unref(m);
    } else if (!fxs_ctx_error(ctx)[0]) {
        abort();
    }
    fxs_ctx_free(ctx);
    return 0;
}
