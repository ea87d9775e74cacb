/* schema.h: a schema string as parameters, and the binding of a call's arguments to them. */
#ifndef FXS_OP_SCHEMA_H
#define FXS_OP_SCHEMA_H

#include "op/op.h"

typedef enum fxs_type {
    FXS_T_TENSOR,
    FXS_T_TENSORS,
    FXS_T_INT,
    FXS_T_INTS,
    FXS_T_FLOAT,
    FXS_T_SCALAR,
    FXS_T_NUMBER,
    FXS_T_BOOL,
    FXS_T_STR,
    FXS_T_DTYPE,
    FXS_T_DEVICE,
    FXS_T_LAYOUT,
    FXS_T_MEMORY_FORMAT,
    FXS_T_ANY,
    FXS_T_COUNT
} fxs_type;

typedef struct fxs_param {
    const char *name; /* in the schema's arena */
    unsigned types;   /* 1u << fxs_type, any of them */
    int count;        /* N of int[N], 0: any number */
    bool variadic, optional, keyword_only, has_default;
    fxs_value fallback; /* the default; in the schema's arena */
} fxs_param;

typedef struct fxs_schema {
    int nparams;
    fxs_param params[FXS_MAX_ARGS];
    int inplace, requires_grad; /* positions of these parameters, -1: there is none */
    int nholders;
    unsigned char holders[FXS_MAX_ARGS]; /* positions of those that may hold tensors */
    const char *returns;                 /* text behind -> */
} fxs_schema;

/* Parses a schema into `a`; FXS_EPARSE says where, for whoever writes rows. */
fxs_status fxs_schema_parse(fxs_ctx *ctx, fxs_arena *a, const char *text, fxs_schema *out);
/* Binds args (a tuple) and kwargs (a dict, may be NULL) into out[nparams]; containers that it makes
 * (expanded lists) go to `a`, everything else is borrowed. What does not fit is FXS_ETYPE with
 * operator, argument, and types. `spelling` is how the operator is called, NULL: by its row's name;
 * some spellings lack parameters of the row. */
FXS_API fxs_status fxs_schema_bind(fxs_ctx *ctx, fxs_arena *a, const char *op_name,
                                   const char *spelling, const fxs_schema *s, const fxs_value *args,
                                   const fxs_value *kwargs, fxs_value *out);
/* The same without a word about what does not fit: the status alone, the context keeps no error but
 * that memory is out. `strict`: no tensor stands for a number. */
fxs_status fxs_schema_try(fxs_ctx *ctx, fxs_arena *a, const char *spelling, bool strict,
                          const fxs_schema *s, const fxs_value *args, const fxs_value *kwargs,
                          fxs_value *out);
/* Checks one value for parameter i, and puts it into out[i] as fxs_schema_bind would. op_name NULL:
 * as fxs_schema_try would. */
fxs_status fxs_schema_put(fxs_ctx *ctx, fxs_arena *a, const char *op_name, const fxs_schema *s,
                          int i, const fxs_value *v, fxs_value *out);
/* fxs_schema_bind for arguments in which nodes stand for what is not known yet, and which stay as
 * they were given: an int for int[2] is no list. given[nparams] tells which are no defaults. */
FXS_API fxs_status fxs_schema_place(fxs_ctx *ctx, fxs_arena *a, const char *op_name,
                                    const char *spelling, const fxs_schema *s,
                                    const fxs_value *args, const fxs_value *kwargs, fxs_value *out,
                                    bool *given);
/* The first parameter without default that a call does not give, NULL when none is missing. Knows
 * nothing of types: what is given may be a node. */
FXS_API const char *fxs_schema_missing(const fxs_schema *s, const fxs_value *args,
                                       const fxs_value *kwargs);
/* Position of a parameter, -1 when there is none of that name. */
FXS_API int fxs_schema_index(const fxs_schema *s, const char *name);

#endif
