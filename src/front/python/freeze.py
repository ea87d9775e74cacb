"""Compiles the modules under a folder into C arrays, for PyImport_FrozenModules.

usage: freeze.py FOLDER OUTPUT.c DEPFILE

Must run with the interpreter whose library the plug-in links: compiled code belongs to one minor
version of Python.
"""
import marshal
import os
import sys


def sources(folder):
    """(module name, is a package, path), and every folder on the way."""
    found, folders = [], []
    for at, names, files in os.walk(folder):
        names[:] = sorted(n for n in names if n != "__pycache__")
        folders.append(at)
        parts = os.path.relpath(at, folder).split(os.sep) if at != folder else []
        for file in sorted(files):
            if not file.endswith(".py"):
                continue
            package = file == "__init__.py"
            name = ".".join(parts if package else parts + [file[:-3]])
            if name:
                found.append((name, package, os.path.join(at, file)))
    return found, folders


def array(data):
    return "\n".join(
        "    " + ",".join(str(b) for b in data[i : i + 32]) + "," for i in range(0, len(data), 32)
    )


def main(folder, output, depfile):
    modules, folders = sources(folder)
    with open(output, "w", encoding="utf-8") as out:
        out.write("/* Made by freeze.py. */\n#include \"front/python/embed.h\"\n\n")
        for i, (name, _, path) in enumerate(modules):
            shown = "<fxscope>/" + os.path.relpath(path, folder)
            with open(path, encoding="utf-8") as source:
                code = compile(source.read(), shown, "exec", dont_inherit=True)
            out.write(f"static const unsigned char code_{i}[] = {{\n{array(marshal.dumps(code))}\n}};\n")
        out.write("\nconst struct _frozen fxpy_frozen[] = {\n")
        for i, (name, package, _) in enumerate(modules):
            out.write(f'    {{.name = "{name}", .code = code_{i}, .size = sizeof code_{i}, '
                      f".is_package = {int(package)}}},\n")
        out.write("    {0},\n};\n")
    with open(depfile, "w", encoding="utf-8") as out:
        needs = [path for _, _, path in modules] + folders
        out.write(f"{output}: " + " ".join(n.replace(" ", "\\ ") for n in needs) + "\n")


main(*sys.argv[1:])
