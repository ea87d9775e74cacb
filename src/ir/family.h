/* family.h: the family of operators that a node is of, as pictures colour it. */
#ifndef FXS_IR_FAMILY_H
#define FXS_IR_FAMILY_H

#include "ir/module.h"
#include "op/group.h"

/* The key of a box's user meta: the word of the family that it is coloured by. */
#define FXS_FAMILY_OF_BOX "family"

/* The family that a node of m's graph is of; *none: it has no operator, or no tensor. */
FXS_API fxs_status fxs_node_family(const fxs_node *n, const fxs_module *m, bool *none,
                                   fxs_group *out);

#endif
