/* planned.h: calls that are bound already (ir/call_plan.h): the interpreter fills in what nodes and
 * layers hold, and runs the operator. */
#ifndef FXS_RUN_PLANNED_H
#define FXS_RUN_PLANNED_H

#include "ir/call_plan.h"
#include "run/interpreter.h"

/* Runs n's call by its plan. args: the inputs of a layer, resolved or not; not looked at for calls
 * of functions and methods. *fits is false, and nothing was done, where the plan is not for the
 * values that it met: the call has to be bound as any other. */
fxs_status fxs_run_plan(fxs_interpreter *it, const fxs_node *n, fxs_call_plan *plan,
                        const fxs_value *args, bool *fits, fxs_value *result);

#endif
