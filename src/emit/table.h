/* table.h: what table.c and json.c share. */
#ifndef FXS_EMIT_TABLE_H
#define FXS_EMIT_TABLE_H

#include "emit/format.h"

/* True when the last run recorded value statistics. */
bool fxs_graph_has_stats(const fxs_graph *g);
/* One object for the model and one for each node. */
fxs_status fxs_put_json_table(const fxs_module *m, fxs_buf *b);

#endif
