/* named.c: the fields of PyTorch's named tuples, torch.return_types.max and the like. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"

const char *const *fxs_named_fields(const char *type) {
    static const char prefix[] = "torch.return_types.";
    static const struct {
        const char *names; /* with blanks around */
        const char *fields[5];
    } rows[] = {
        {" max min sort topk median mode kthvalue cummax cummin nanmedian ", {"values", "indices"}},
        {" aminmax ", {"min", "max"}},
        {" slogdet linalg_slogdet ", {"sign", "logabsdet"}},
        {" qr linalg_qr ", {"Q", "R"}},
        {" svd ", {"U", "S", "V"}},
        {" linalg_svd ", {"U", "S", "Vh"}},
        {" linalg_eig linalg_eigh symeig ", {"eigenvalues", "eigenvectors"}},
        {" linalg_cholesky_ex ", {"L", "info"}},
        {" linalg_inv_ex ", {"inverse", "info"}},
        {" linalg_solve_ex ", {"result", "info"}},
        {" linalg_lstsq ", {"solution", "residuals", "rank", "singular_values"}},
        {" linalg_lu lu_unpack ", {"P", "L", "U"}},
        {" linalg_lu_factor ", {"LU", "pivots"}},
        {" linalg_lu_factor_ex _lu_with_info ", {"LU", "pivots", "info"}},
        {" linalg_ldl_factor ", {"LD", "pivots"}},
        {" linalg_ldl_factor_ex ", {"LD", "pivots", "info"}},
        {" triangular_solve ", {"solution", "cloned_coefficient"}},
        {" geqrf ", {"a", "tau"}},
        {" frexp ", {"mantissa", "exponent"}},
        {" histogram histogramdd ", {"hist", "bin_edges"}},
    };
    static const char *const adaptive[] = {"output", "loss", NULL};
    char name[64];
    if (strcmp(type, "torch.nn.modules.adaptive._ASMoutput") == 0)
        return adaptive;
    if (strncmp(type, prefix, sizeof prefix - 1) != 0 || strlen(type) > 60)
        return NULL;
    snprintf(name, sizeof name, " %s ", type + sizeof prefix - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i].names, name))
            return rows[i].fields;
    return NULL;
}

size_t fxs_named_field(const fxs_value *v, const char *name) {
    if (v->tag != FXS_V_TUPLE || v->u.seq->kind != FXS_TUPLE_NAMED)
        return SIZE_MAX;
    const char *const *fields =
        v->u.seq->fields ? v->u.seq->fields : fxs_named_fields(fxs_value_type_name(v));
    for (size_t k = 0; fields && fields[k]; k++)
        if (strcmp(fields[k], name) == 0)
            return k;
    return SIZE_MAX;
}
