#!/bin/sh
# check_gallery: the page of networks has a picture for each that is asked for, all it links to is in its folder, a rerun
# gives the same bytes, every network has a form, and the pictures that README shows are what is drawn now. Prints TAP.
# usage: check_gallery.sh FXSCOPE
set -u
fxscope=$1
here=$(cd "${0%/*}" && pwd)
command -v python3 >/dev/null || {
    echo "1..0 # SKIP no python3 is installed, in which the gallery is written"
    exit 0
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0
bad=0
check() { # name, command
    n=$((n + 1))
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $n - $name"; else
        bad=$((bad + 1))
        echo "not ok $n - $name"
        sed 's/^/# /' "$work/log" | head -20
    fi
}
links_are_there() {
    names=$(sed 's/\(src\|href\)="/\n&/g' "$work/a/index.html" | sed -n 's/^\(src\|href\)="\([^"]*\)".*/\2/p')
    [ "$(echo "$names" | wc -l)" -ge 8 ] || return 1
    for file in $names; do [ -s "$work/a/$file" ] || { echo "$file is not there"; return 1; }; done
}
check "the gallery is drawn" python3 "$here/gallery.py" "$fxscope" "$work/a" testmodel regnet_x_400mf
check "the page shows both networks" test "$(grep -c '<article' "$work/a/index.html")" = 2
check "what the page links to is there" links_are_there
check "nothing comes from elsewhere" sh -c "! grep -E '(src|href)=\"(https?:|/)' '$work/a/index.html'"
check "the small picture is a PNG" sh -c "head -c 4 '$work/a/testmodel.png' | grep -q PNG"
check "it is drawn again" python3 "$here/gallery.py" "$fxscope" "$work/b" testmodel regnet_x_400mf
check "with the same bytes" diff -r "$work/a" "$work/b"

# README's pictures, which were drawn with DejaVu Sans: other fonts give other widths.
docs=$here/../../docs
if ! fc-match 'DejaVu Sans' 2>/dev/null | grep -q '"DejaVu Sans"'; then
    n=$((n + 1))
    echo "ok $n - README's pictures are current # SKIP the font DejaVu Sans is not installed"
else
    # shellcheck disable=SC2046
    check "README's networks are drawn" python3 "$here/gallery.py" "$fxscope" "$work/docs" $(cd "$docs/gallery" && ls | sed 's/\.svg$//')
    for file in "$docs/gallery"/*.svg; do
        check "docs/gallery/${file##*/} is current: else copy it from out/gallery after ./dev gallery" cmp "$file" "$work/docs/${file##*/}"
    done
    check "README's first picture is drawn" "$fxscope" draw "$here/../../samples/testmodel.fx" -i 1x3x16x16 -i 1x2x8x8 -o "$work/testmodel.svg"
    check "docs/testmodel.svg is current" cmp "$docs/testmodel.svg" "$work/testmodel.svg"
fi
echo "1..$n"
[ $bad -eq 0 ]
