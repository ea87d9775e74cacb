"""Of a list of names that are looked up in libraries at their first use (base/library.h), the sources that do it.

usage: library.py declare NAME LIST HEADER PROBE.c    a struct with a pointer for each name, and macros that call through it;
                                                      and a source that uses all names, for the linker
       library.py define NAME LIST PROBE.so SOURCE.c  the struct; which files hold the names is what the linker noted in
                                                      PROBE.so, so that a name that no library has fails the build
LIST has a line for each name, and before them '<header.h>' or '"header.h"' of what declares them; '#' begins a comment."""
import re
import subprocess
import sys


def read_list(path):
    with open(path, encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    headers = [line for line in lines if line[0] in '<"']
    return headers, [line for line in lines if line[0] not in '<"']


def declare(name, list_path, header, probe):
    headers, names = read_list(list_path)
    guard = f"FXS_{name.upper()}_LIBRARY_H"
    includes = "".join(f"#include {h}\n" for h in headers)
    with open(header, "w", encoding="ascii") as out:
        out.write(f"/* Made by library.py. */\n#ifndef {guard}\n#define {guard}\n\n{includes}\n")
        out.write('#include "base/library.h"\n\n')
        out.write(f"extern fxs_library fxs_{name}_library;\nextern struct fxs_{name} {{\n")
        out.writelines(f"    __typeof__({n}) *{n};\n" for n in names)
        out.write(f"}} fxs_{name};\n\n")
        out.writelines(f"#define {n} (*fxs_{name}.{n})\n" for n in names)
        out.write("\n#endif\n")
    with open(probe, "w", encoding="ascii") as out:
        out.write(f"/* Made by library.py. */\n{includes}\n")
        out.writelines(f"extern __typeof__({n}) *const use_{n};\n__typeof__({n}) *const use_{n} = &{n};\n" for n in names)


def needed(probe):
    """The libraries that the probe was linked with, but for libc, which it has as every library does."""
    dynamic = subprocess.run(["readelf", "-d", probe], check=True, capture_output=True, text=True).stdout
    files = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    return [f for f in files if not f.startswith("libc.so")]


def define(name, list_path, probe, source):
    _, names = read_list(list_path)
    files = needed(probe)
    if not files:
        sys.exit(f"{probe} was linked with no library that holds the names in {list_path}")
    with open(source, "w", encoding="ascii") as out:
        out.write(f'/* Made by library.py. */\n#include "{name}_library.h"\n\nstruct fxs_{name} fxs_{name};\n')
        for what, texts in (("files", files), ("names", names)):
            out.write(f"static const char *const {what}[] = {{\n")
            out.writelines(f'    "{t}",\n' for t in texts)
            out.write("    NULL,\n};\n")
        out.write(f"_Static_assert(sizeof fxs_{name} == {len(names)} * sizeof(void *), \"pointers of one size\");\n")
        out.write(f"fxs_library fxs_{name}_library = {{.files = files, .names = names, .table = &fxs_{name}}};\n")


{"declare": declare, "define": define}[sys.argv[1]](*sys.argv[2:])
