/* families.c: the list of all operator tables. Each family is a file beside this one. */
#include "kernels/families.h"

const fxs_family fxs_families[] = {
    {0},
};
