/* embed.c: starts the interpreter inside the command: isolated from the user's environment, UTF-8
 * everywhere, with the modules under lib/ frozen into the plug-in. */
#include "front/python/embed.h"

#include <errno.h>
#include <unistd.h>

static int fail(PyStatus status) {
    fprintf(stderr, "fxscope: Python can't be started: %s\n",
            status.err_msg ? status.err_msg : "unknown reason");
    return -1;
}

/* Compiled code belongs to one minor version. */
static int check_version(void) {
    const char *have = Py_GetVersion(), *dot = strchr(have, '.');
    size_t n = dot ? (size_t)(dot - have) + 1 + strspn(dot + 1, "0123456789") : 0;
    char built[16];
    snprintf(built, sizeof built, "%d.%d", PY_MAJOR_VERSION, PY_MINOR_VERSION);
    if (n == strlen(built) && strncmp(have, built, n) == 0)
        return 0;
    fprintf(stderr, "fxscope: the Python front was built for Python %s, but this is %.*s\n", built,
            (int)n, have);
    return -1;
}

/* Python looks for itself from the working folder, and says a page where that is gone. */
static int check_folder(void) {
    char here[4096];
    if (getcwd(here, sizeof here) || errno == ERANGE)
        return 0;
    fprintf(stderr, "fxscope: the working folder: %s\n", strerror(errno));
    return -1;
}

static PyStatus configure(PyConfig *config, int argc, char **argv) {
    PyConfig_InitIsolatedConfig(config);
    config->site_import = 0;
    config->write_bytecode = 0;
    config->install_signal_handlers = 1; /* Ctrl-C ends what runs */
    config->user_site_directory = 0;
    config->pathconfig_warnings = 0;
    PyStatus s = PyConfig_SetBytesString(config, &config->program_name, "fxscope");
    if (!PyStatus_Exception(s))
        s = PyConfig_SetBytesArgv(config, argc, argv);
    return s;
}

/* ---- where imports are looked for ---- */

static int add_path(PyObject *path, Py_ssize_t at, const char *folder) {
    PyObject *text = PyUnicode_DecodeFSDefault(folder);
    int known = text ? PySequence_Contains(path, text) : -1;
    int bad = known < 0;
    if (!known)
        bad = at < 0 ? PyList_Append(path, text) : PyList_Insert(path, at, text);
    Py_XDECREF(text);
    return bad ? -1 : 0;
}

static int add_site(PyObject *path) {
    const char *env = getenv("VIRTUAL_ENV");
    char folder[4096];
    int n = env && *env ? snprintf(folder, sizeof folder, "%s/lib/python%d.%d/site-packages", env,
                                   PY_MAJOR_VERSION, PY_MINOR_VERSION)
                        : 0;
    if (n > 0 && n < (int)sizeof folder && access(folder, R_OK) == 0 &&
        add_path(path, -1, folder) < 0)
        return -1;
    return access("/usr/lib/python3/dist-packages", R_OK) == 0
               ? add_path(path, -1, "/usr/lib/python3/dist-packages")
               : 0;
}

/* The script's folder, --path, the standard library, and what is installed beside it. */
static int set_paths(const char *folder, const fxs_python_options *options) {
    PyObject *path = PySys_GetObject("path");
    Py_ssize_t at = 0;
    if (!path || (folder && add_path(path, at++, folder) < 0))
        return -1;
    for (size_t i = 0; i < options->paths.len; i++)
        if (add_path(path, at++, options->paths.items[i]) < 0)
            return -1;
    return options->isolated ? 0 : add_site(path);
}

int fxpy_start(fxs_ctx *ctx, int argc, char **argv, const char *folder,
               const fxs_python_options *options) {
    PyPreConfig before;
    PyConfig config;
    if (check_version() < 0 || check_folder() < 0)
        return -1;
    fxpy_set_ctx(ctx);
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
#ifdef __SANITIZE_ADDRESS__
    before.allocator = PYMEM_ALLOCATOR_MALLOC; /* so that the sanitizer sees each object */
#endif
    PyStatus s = Py_PreInitialize(&before);
    if (PyStatus_Exception(s))
        return fail(s);
    PyImport_FrozenModules = fxpy_frozen;
    if (PyImport_AppendInittab("_fxscope", PyInit__fxscope) < 0)
        return fail(PyStatus_NoMemory());
    s = configure(&config, argc, argv);
    if (!PyStatus_Exception(s))
        s = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(s))
        return fail(s);
    if (set_paths(folder, options) < 0) {
        PyErr_Print();
        return -1;
    }
    return 0;
}
