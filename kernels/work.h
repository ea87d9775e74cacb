/* work.h: tensor arguments and outputs in the form that a kernel computes with: contiguous, of one
 * dtype (float32 for the small float types, whose results are rounded once at the end). Errors
 * stick: a failed step gives NULL, later steps do nothing, and fxs_work_end reports. Also the
 * layout rules that several families share. */
#ifndef FXS_KERNELS_WORK_H
#define FXS_KERNELS_WORK_H

#include "op/op.h"

enum { FXS_MAX_HELD = 16 };

typedef struct fxs_work {
    fxs_call *call;
    fxs_dtype dtype; /* what the kernel computes in */
    fxs_status status;
    int nheld;
    struct {
        fxs_tensor *tensor;
        fxs_tensor *target; /* where to copy `tensor` in the end; NULL for arguments */
    } held[FXS_MAX_HELD];
} fxs_work;

/* The type that values of type d are computed in: float32 for float16 and bfloat16, else d itself.
 */
fxs_dtype fxs_compute_dtype(fxs_dtype d);
fxs_work fxs_work_begin(fxs_call *c, fxs_dtype like);
/* t contiguous and in w->dtype; NULL when t is NULL or an error sticks. Lives until fxs_work_end.
 */
fxs_tensor *fxs_work_in(fxs_work *w, fxs_tensor *t);
/* A contiguous tensor of w->dtype in which `out` is computed: `out` itself where it fits. */
fxs_tensor *fxs_work_out(fxs_work *w, fxs_tensor *out);
/* Elements of fxs_work_in; NULL for a NULL tensor. */
const void *fxs_work_data(fxs_work *w, fxs_tensor *t);
/* n elements of `size` bytes of scratch; NULL when an error sticks. */
void *fxs_work_scratch(fxs_work *w, int64_t n, size_t size);
/* The same for each thread: *step elements from one's to the next one's, which share no line of the
 * cache. */
void *fxs_work_thread_scratch(fxs_work *w, int64_t n, size_t size, int64_t *step);
/* The same for kernels without a fxs_work. NULL: out of memory, which is not said yet. */
void *fxs_thread_scratch(fxs_call *c, int64_t n, size_t size, int64_t *step);
/* Copies outputs to where they belong, drops everything held, gives the status. */
fxs_status fxs_work_end(fxs_work *w);

/* Which types an operator takes. */
typedef enum fxs_takes {
    FXS_TAKES_FLOATS = 1,
    FXS_TAKES_INTEGERS = 2,
    FXS_TAKES_BOOL = 4
} fxs_takes;
/* Refuses a dtype as torch does: "softmax: not implemented for type int64". */
fxs_status fxs_check_dtype(fxs_call *c, const fxs_tensor *t, unsigned takes);
/* Refuses a complex number as argument i of an operation in a real type. */
fxs_status fxs_check_number(fxs_call *c, int i, fxs_dtype d);
/* A number, or the one element of a tensor of any type, as a value; None: not known. */
fxs_value fxs_known_number(const fxs_value *v);
/* Refuses a number as argument i that type d can't hold; a tensor's, where its value is known. */
fxs_status fxs_check_fits(fxs_call *c, int i, fxs_dtype d);
/* Refuses a tensor that requires grad as argument i, by which PyTorch can't differentiate. */
fxs_status fxs_check_no_grad(fxs_call *c, int i, const char *name);
/* Refuses a mask of uint8 that has other elements than 0 and 1, where they are known. */
fxs_status fxs_check_mask_bytes(fxs_call *c, const fxs_tensor *mask);
/* Refuses a complex result (of a type that the call names, or is promoted to) where an argument
 * requires grad: PyTorch has no derivative for it. */
fxs_status fxs_check_real_grad(fxs_call *c);
/* Refuses a tensor argument whose dtype differs from `like`'s. */
fxs_status fxs_check_same_dtype(fxs_call *c, const fxs_tensor *like, const fxs_tensor *t,
                                const char *name);

/* torch's suggest_memory_format() == channels_last (4 dimensions) or channels_last_3d (5): by the
 * order of strides, and contiguous where the order is ambiguous. */
bool fxs_suggests_channels_last(const fxs_tensor *t);
/* A new output in channels_last when `last`, contiguous otherwise. */
fxs_status fxs_out_format(fxs_call *c, fxs_dtype dtype, int ndim, const int64_t *sizes, bool last);

#endif
