/* rules.h: what an option needs to have an effect: a kind of output, another option, a model in
 * Python. One table (rules.c) that refuses what would be ignored, and that help prints. */
#ifndef CLI_RULES_H
#define CLI_RULES_H

#include "cli.h"

/* An option that could have no effect is a usage error, which says what would take it. */
cli_exit cli_rules_check(const cli_command *c, const cli_settings *s);

/* For help: the i-th rule as an entry; false behind the last. */
bool cli_rule_entry(size_t i, char *term, size_t term_room, char *text, size_t text_room);

#endif
