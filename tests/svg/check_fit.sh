#!/bin/sh
# check_fit: every text of an SVG lies inside of its cell as a browser draws it. Draws models, lets Chromium measure each
# text's box against the lines of its table, and prints TAP. usage: check_fit.sh FXSCOPE TESTS; 77: no Chromium.
set -u
fxscope=$1
tests=$2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: no Chromium is installed, which alone measures texts as a browser draws them"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# model of tests/golden/models -> file
put_together() {
    cat "$tests/golden/models/$1.modules.txt"
    awk -F'\t' '$2 !~ /\./ { print $1 " " $2 ": torch." $3 $4 }' "$tests/golden/models/$1.params.tsv"
    cat "$tests/golden/models/$1.graph.txt"
}

# What Chromium runs; the result replaces the page's text.
cat >"$work/measure.js" <<'END'
let texts = 0, over = 0, worst = 0, where = "";
for (const node of document.querySelectorAll("g.node")) {
    const table = node.querySelector(".table").getBBox(), path = node.querySelector("path");
    const lines = [...(path ? path.getAttribute("d") : "").matchAll(/M([\d.]+) ([\d.]+)([HV])([\d.]+)/g)];
    for (const text of node.querySelectorAll("text")) {
        const b = text.getBBox(), x = b.x + b.width / 2, y = b.y + b.height / 2;
        let left = table.x, right = table.x + table.width, top = table.y, bottom = table.y + table.height;
        for (const [, x0, y0, direction, to] of lines) {
            if (direction == "V" && y > +y0 && y < +to) {
                if (+x0 < x) left = Math.max(left, +x0); else right = Math.min(right, +x0);
            } else if (direction == "H") {
                if (+y0 < y) top = Math.max(top, +y0); else bottom = Math.min(bottom, +y0);
            }
        }
        texts++;
        if (b.x < left || b.x + b.width > right || b.y < top - 1 || b.y + b.height > bottom + 1) over++;
        const ratio = b.width / (right - left);
        if (ratio > worst) { worst = ratio; where = node.id + ": " + text.textContent; }
    }
}
document.title = "";
document.body.textContent = `texts ${texts} over ${over} worst ${worst.toFixed(3)} at ${where} END`;
END

n=0
bad=0
# name, options of draw
check() {
    n=$((n + 1))
    name=$1
    shift
    "$fxscope" draw "$work/$name.fx" -o "$work/a.svg" "$@" 2>/dev/null
    {
        printf '<!DOCTYPE html><meta charset="utf-8"><body>'
        cat "$work/a.svg"
        printf '<script>'
        cat "$work/measure.js"
        printf '</script></body>'
    } >"$work/page.html"
    found=$(timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$work/profile" \
        --dump-dom "file://$work/page.html" 2>/dev/null | tr '\n' ' ' | sed -n 's/.*\(texts [0-9]* over .*\) END.*/\1/p')
    case $found in
    "texts 0 "*) verdict="not ok" ;;
    "texts "*" over 0 "*) verdict="ok" ;;
    *) verdict="not ok" ;;
    esac
    [ "$verdict" = ok ] || bad=$((bad + 1))
    echo "$verdict $n - $name $*: ${found:-Chromium gave no answer}"
}

for name in testmodel googlenet swin_t; do
    put_together $name >"$work/$name.fx"
done
cat >"$work/odd.fx" <<'END'
graph():
    %x : [#users=1] = placeholder[target=x]
    %f : [#users=1] = call_function[target=a.wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww](args = (%x,), kwargs = {})
    %g : [#users=1] = call_function[target=a.iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii](args = (%f,), kwargs = {})
    return g
END
check testmodel -i 1x3x16x16 -i 1x2x8x8
check testmodel -i 1x3x16x16 -i 1x2x8x8 --rows +args,stride,params,flops --direction LR --theme dark
check googlenet -i 1x3x224x224 --meta --rows +args,params
check swin_t -i 1x3x224x224 --meta
check odd
echo "1..$n"
[ $bad -eq 0 ]
