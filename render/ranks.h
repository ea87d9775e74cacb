/* ranks.h: what the order of a view's nodes and edges alone tells: ranks, how hard a layout will
 * be, the main path. */
#ifndef FXS_RENDER_RANKS_H
#define FXS_RENDER_RANKS_H

#include "view.h"

/* Longest-path ranks over edges that go forward in the graph's order; what needs no input of the
 * graph sinks to just above its first user. rank has one place for each node. Returns the number of
 * ranks, -1 when memory is out. */
int fxs_ranks(const fxs_view *v, int *rank);
/* Number of nodes of the graph that dot's position phase works on: its time grows with the square
 * of it. */
double fxs_ranks_size(const fxs_view *v, const int *rank);
/* Marks the edges of one longest path, where tensors count more than other values. Engines keep it
 * straight, which keeps long nets from drifting sideways. false when memory is out. */
bool fxs_ranks_spine(fxs_view *v);

#endif
