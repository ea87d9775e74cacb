/* unit.h: what a file of tests may ask the program that runs it. */
#ifndef FXS_TESTS_UNIT_H
#define FXS_TESTS_UNIT_H

/* What stands after the test's name on the command line; NULL: nothing does. */
extern const char *unit_argument;

#endif
