/* folder.h: what is in a folder, for tests that nothing is left behind. */
#ifndef FXS_TESTS_FOLDER_H
#define FXS_TESTS_FOLDER_H

#include <dirent.h>

#include "testing.h"

static inline int folder_entries(const char *folder) {
    DIR *d = opendir(folder);
    int n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

#endif
