"""Puts the interactive page into the library: page.html with the style sheet and the scripts in it, cut where the title
and the data go. The policy in its head allows this script and this style sheet, by their hashes, and nothing else.
usage: embed.py PAGE.html PAGE.css SCRIPT.js... OUTPUT.c"""
import base64
import hashlib
import os
import sys


def shrunk(text):
    """Without indentation, lines that are a comment, and empty lines: no script has text of several lines."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def put_bytes(out, name, text):
    out.write(f"static const char {name}[] = {{")
    data = text.encode() + b"\0"
    for i, byte in enumerate(data):
        out.write(("\n    " if i % 24 == 0 else " ") + f"{byte if byte < 128 else byte - 256},")
    out.write("\n};\n\n")


def main():
    page, style, *scripts, output = sys.argv[1:]
    css = "\n" + shrunk(read(style)) + "\n"
    js = '\n"use strict";\n(() => {\n' + "\n".join(shrunk(read(s)) for s in scripts) + "\n})();\n"
    if "</script" in js or "</style" in css or "`" in js:
        sys.exit("embed.py: a script may hold no end tag and no template literal")
    text = read(page).replace("{script-hash}", hash_of(js)).replace("{style-hash}", hash_of(css))
    head, tail = text.replace("{style}", css).split("{title}")
    middle, tail = tail.split("{data}")
    parts = [head, middle, tail.replace("{script}", js)]
    with open(output, "w", encoding="ascii") as out:
        out.write(f"/* {os.path.basename(output)}: made from render/html by embed.py. */\n")
        out.write('#include "render/html.h"\n\n')
        for i, part in enumerate(parts):
            put_bytes(out, f"part{i}", part)
        out.write("const char *const fxs_html_parts[3] = {part0, part1, part2};\n")


main()
