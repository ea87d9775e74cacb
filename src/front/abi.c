/* abi.c: see fxsfront.h: the library's side of the question whether a plug-in was built with it. */
#include "fxsfront.h"

unsigned fxs_front_abi(void) { return FXS_FRONT_ABI; }
