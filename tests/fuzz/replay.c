/* replay.c: runs a fuzz target on every file of a folder, as an ordinary test (TAP). To search for
 * new inputs instead, build the target with clang: -fsanitize=fuzzer,address in the place of this
 * file, and give it the corpus folder. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        return -1;
    long size = ftell(f);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    rewind(f);
    int bad = !data || fread(data, 1, (size_t)size, f) != (size_t)size;
    fclose(f);
    if (!bad)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return bad ? -1 : 0;
}

int main(int argc, char **argv) {
    struct dirent **list;
    int n = argc > 1 ? scandir(argv[1], &list, NULL, alphasort) : -1, count = 0, failed = 0;
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], list[i]->d_name);
        if (list[i]->d_name[0] != '.') {
            int bad = run_file(path);
            printf("%sok %d - %s\n", bad ? "not " : "", ++count, list[i]->d_name);
            failed += bad != 0;
        }
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    printf("1..%d\n", count);
    return failed || count == 0;
}
