/* format.h: the pieces of text that printers, tables and pictures share: arguments, targets, node
 * lines, layers, results. All append to a buffer and cannot fail but by memory. */
#ifndef FXS_EMIT_FORMAT_H
#define FXS_EMIT_FORMAT_H

#include "ir/module.h"

/* torch.fx's _format_arg: nodes with %, strings without quotes. Lists show at most max_list_len
 * items (0: all). */
FXS_API void fxs_buf_arg(fxs_buf *b, const fxs_value *v, int max_list_len);
/* The arguments of a node in that form; of one that is drawn for several, with ranges. */
void fxs_buf_node_args(fxs_buf *b, const fxs_node *n);
void fxs_buf_node_kwargs(fxs_buf *b, const fxs_node *n);
/* repr and str with node names. */
void fxs_buf_node_repr(fxs_buf *b, const fxs_value *v);
void fxs_buf_node_str(fxs_buf *b, const fxs_value *v);
/* A flag beside fxs_print's: strings are quoted, so that all values read back as they are. */
enum { FXS_LINE_QUOTED = 1 << 16 };
/* Node.format_node(), one line without newline. flags: FXS_PRINT_TORCH2, FXS_LINE_QUOTED. */
FXS_API void fxs_buf_node_line(fxs_buf *b, const fxs_node *n, unsigned flags);
/* Whether its line does not read back without quotes, and which parts that are bare do (quoted.c).
 */
bool fxs_needs_quotes(const fxs_node *n);
bool fxs_is_plain_target(const char *target);
bool fxs_is_plain_type(const char *type);
/* What was said about the nodes before, and the comments that say what is otherwise with n: "# in",
 * "# at", "# stack", a line each (origin.c). */
typedef struct fxs_origin {
    const fxs_scope *scope;
    const char *file, *stack;
    int line;
} fxs_origin;
void fxs_buf_origin(fxs_buf *b, const fxs_node *n, fxs_origin *before);
/* A module without its children, as print(model) begins it: "Conv2d(3, 4, kernel_size=(1, 1),
 * stride=(1, 1))"; a module with children is "Sequential(...)". */
void fxs_buf_layer(fxs_buf *b, const fxs_module *m);
/* The arguments inside those parentheses. */
void fxs_buf_layer_args(fxs_buf *b, const fxs_module *m);
/* A recorded result: "float32[1, 3, 16, 16]", "torch.Size([16, 16])", "(float32[2], int64[2])". */
void fxs_buf_result(fxs_buf *b, const fxs_value *result);
/* The same with strides, memory format and requires_grad: the notation of the tsv table. */
void fxs_buf_result_full(fxs_buf *b, const fxs_value *result);

#endif
