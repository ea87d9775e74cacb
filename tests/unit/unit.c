/* unit.c: the program that holds every unit test. `unit test_base` runs the tests of test_base.c;
 * what stands after the name is for them. UNIT_TESTS is the list in meson.build. */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define UNIT_TEST(name) int name(void);
UNIT_TESTS
#undef UNIT_TEST

#define UNIT_TEST(name) {#name, name},
static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {UNIT_TESTS};

const char *unit_argument;

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof tests / sizeof *tests; i++)
        if (strcmp(tests[i].name, argv[1]) == 0) {
            unit_argument = argc > 2 ? argv[2] : NULL;
            return tests[i].run();
        }
    fprintf(stderr, "usage: unit TEST [ARGUMENT]\nTEST is one of:\n");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        fprintf(stderr, "  %s\n", tests[i].name);
    return 2;
}
