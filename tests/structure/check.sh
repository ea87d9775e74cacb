#!/bin/sh
# Checks what the design promises of the sources: includes go down the order of the layers, files and functions stay
# small, and only the parts that may know a library include its headers. Prints TAP.
# usage: check.sh SOURCE_ROOT
cd "$1" || exit 1
n=0
failed=0

report() { # name, text of the violations (empty: none)
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        failed=$((failed + 1))
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
    fi
}

sources=$(find src kernels render -name '*.[ch]' | sort)
[ -n "$sources" ] || { echo "1..1"; echo "not ok 1 - there are sources"; exit 1; }
echo "1..7"

# base < op < kernels, ir < front, run, emit < pass, render < cli. The public headers stand below all of them.
report "includes go down the order of the layers" "$(awk '
function layer(path) {
    if (path == "fxscope.h" || path == "src/fxscope.h") return "public"
    if (path == "render/fxrender.h") return "public"
    if (path ~ /front\/python\/plugin\.h$/) return "public"
    # a plug-in stands above the library, as the command does
    if (path == "src/fxsfront.h" || path == "fxsfront.h" || path ~ /front\/python\//) return "plugin"
    sub(/^src\//, "", path)
    sub(/\/.*/, "", path)
    return path
}
function allowed(from, to) {
    if (to == "public" || from == to) return 1
    if (from == "op") return to == "base"
    if (from == "kernels" || from == "ir") return to == "base" || to == "op"
    if (from == "front" || from == "emit" || from == "run") return to == "base" || to == "op" || to == "ir"
    if (from == "pass") return to == "base" || to == "op" || to == "ir" || to == "run" || to == "emit"
    if (from == "plugin") return to == "base" || to == "op" || to == "ir" || to == "front" || to == "emit" || to == "run"
    if (from == "render") return to == "base" || to == "op" || to == "ir" || to == "emit"
    return 0
}
/^#include "/ {
    split($0, part, "\"")
    from = layer(FILENAME)
    to = part[2] ~ /\// || part[2] == "fxscope.h" ? layer(part[2]) : from
    if (part[2] == "fxrender.h") to = "public"
    if (!allowed(from, to)) print FILENAME ":" FNR ": " from " may not include " part[2]
}' $sources)"

report "only layout knows gvc.h, only text and canvases know cairo and pango, only json and safetensors know jansson, only the Python front knows Python" "$(awk '
/^#include <(graphviz\/)?(gvc|cgraph|gvplugin).*>/ && FILENAME !~ /render\/layout/ { print FILENAME ":" FNR ": " $0 }
/^#include <(cairo|pango).*>/ && FILENAME !~ /render\/(text|fonts|label|canvas|png)/ { print FILENAME ":" FNR ": " $0 }
/^#include <jansson.h>/ && FILENAME !~ /json|safetensors/ { print FILENAME ":" FNR ": " $0 }
/^#include <(Python|structmember|marshal|frameobject).h>/ && FILENAME !~ /src\/front\/python\// { print FILENAME ":" FNR ": " $0 }' $sources)"

report "no file has over 800 lines" "$(wc -l $sources $(find src -name '*.py') | awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines" }')"

report "half of the .c files have at most 250 lines" "$(wc -l $(echo "$sources" | grep '\.c$') | awk '$2 != "total" { print $1 }' |
    sort -n | awk '{ a[NR] = $1 } END { m = a[int((NR + 1) / 2)]; if (m > 250) print "the median is " m }')"

# A function begins at a line in the first column (or its continuation) that ends in ") {", and ends at "}" in the first.
functions=$(awk '
FNR == 1 { start = 0; why = 0 }
/Long because/ { why = FNR }
/^[A-Za-z_].*[^;]$/ && !/^(typedef|struct|union|enum|static const|const|#)/ { head = FNR; text = $0 }
!start && /\) \{$/ && head && FNR - head < 6 { start = head; name = text }
/^}/ && start { print FNR - start + 1, FILENAME ":" start, (why && start - why < 6 && start >= why) ? "explained" : "plain", name; start = 0 }
' $(echo "$sources" | grep '\.c$'))
report "no function has over 80 lines, but where a comment says why (Long because ...)" \
    "$(echo "$functions" | awk '$1 > 80 && $3 == "plain" { print $2 ": " $1 " lines" }')"
report "four of five functions have at most 40 lines" "$(echo "$functions" | awk '{ n++; if ($1 <= 40) small++ }
    END { if (n < 100) print "only " n " functions were found"; else if (small < 0.8 * n) print small " of " n }')"

# Each ```c block behind <!-- from FILE --> must stand in that file, as it is.
report "the code in docs/adding-an-operator.md is the code that is there" "$(awk '
function whole(path,   line, all) {
    while ((getline line < path) > 0) all = all line "\n"
    close(path)
    return all
}
/^<!-- from / { path = $3; blocks++ }
/^```$/ && inside { inside = 0; if (index(whole(path), block) == 0) print FILENAME ": not in " path ": " block }
inside { block = block $0 "\n" }
/^```c$/ { inside = 1; block = "" }
END { if (blocks < 3) print FILENAME ": only " blocks + 0 " blocks of code name their file" }
' docs/adding-an-operator.md)"
[ "$failed" -eq 0 ]
