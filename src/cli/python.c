/* python.c: finds and opens the plug-in that knows Python: beside the command in the build tree, or
 * where it is installed. Without it all commands work, but on no Python source. */
#include "python.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const cli_python_actions[] = {"net", "exec", "write", NULL};
const char *const cli_python_tiers[] = {"plain", "hinted", "concrete", NULL};

static const char file[] = "libfxscope-python.so";

/* The folder of the running command, with a '/' behind; "" when it can't be told. */
static void own_folder(char *folder, size_t room) {
    ssize_t n = readlink("/proc/self/exe", folder, room - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[1] = '\0';
}

/* The first place where the file is. */
static const char *find(char *path, size_t room) {
    static const char *const beside[] = {"../front/python/", "../lib/fxscope/"};
    char folder[PATH_MAX];
    own_folder(folder, sizeof folder);
    for (size_t i = 0; *folder && i < sizeof beside / sizeof *beside; i++)
        if (snprintf(path, room, "%s%s%s", folder, beside[i], file) < (int)room &&
            access(path, R_OK) == 0)
            return path;
    snprintf(path, room, "%s/fxscope/%s", CLI_LIBDIR, file);
    return access(path, R_OK) == 0 ? path : NULL;
}

const fxs_python_plugin *cli_python_open(void) {
    char path[2 * PATH_MAX];
    if (!find(path, sizeof path)) {
        cli_error("Python source needs the plug-in %s, which is not here: build fxscope where "
                  "libpython3-dev is installed",
                  file);
        return NULL;
    }
    /* Global: Python's own extension modules look for the interpreter's symbols there. */
    void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    fxs_python_plugin_fn *get = NULL;
    if (lib)
        *(void **)&get = dlsym(lib, FXS_PYTHON_SYMBOL);
    if (!get) {
        cli_error("the plug-in for Python can't be opened: %s", dlerror());
        return NULL;
    }
    if (get()->abi != FXS_PYTHON_ABI) {
        cli_error("%s belongs to another version of fxscope: build or install both together", path);
        return NULL;
    }
    return get();
}

bool cli_is_python(const char *model) {
    const char *dot = strstr(model, ".py");
    while (dot && dot[3] && dot[3] != ':')
        dot = strstr(dot + 1, ".py");
    return dot != NULL;
}

/* How to trace; NULL: in the first way that works. */
static const char *tier(const cli_settings *s) {
    return s->symbolic ? "plain" : s->concrete ? "concrete" : s->tier;
}

static fxs_python_list list(const cli_list *l) { return (fxs_python_list){l->items, l->len}; }

fxs_python_options cli_python_options(const cli_settings *s, double seconds) {
    return (fxs_python_options){.paths = list(&s->paths),
                                .arguments = list(&s->arguments),
                                .inputs = list(&s->inputs),
                                .tier = tier(s),
                                .allow = s->allow,
                                .timeout = cli_limits_left(s, seconds),
                                .guarded = s->guard,
                                .isolated = s->isolated,
                                .traceback = s->traceback,
                                .strict = s->strict};
}
