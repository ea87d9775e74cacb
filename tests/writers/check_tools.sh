#!/bin/sh
# check_tools: Mermaid, GraphML, draw.io and TikZ files are opened by what they are written for, those of a network, of one
# with frames, of one with a legend, and of one whose texts look like syntax: xmllint with schemas, Mermaid and draw.io's library in Chromium,
# pdflatex. Prints TAP; what is not installed is skipped and said so. The libraries come from npm: `./dev test` fetches them.
# usage: check_tools.sh FXSCOPE UNIT TESTS CACHE
set -u
fxscope=$1
unit=$2
tests=$3
cache=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0
bad=0
ok() {
    n=$((n + 1))
    echo "ok $n - $1"
}
not_ok() { # name, why
    n=$((n + 1))
    bad=$((bad + 1))
    echo "not ok $n - $1"
    printf '%s\n' "$2" | head -20 | sed 's/^/# /'
}
skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

"$unit" test_writers "$work" || exit 1
{
    cat "$tests/golden/models/resnet18.modules.txt"
    awk -F'\t' '$2 !~ /\./ { print $1 " " $2 ": torch." $3 $4 }' "$tests/golden/models/resnet18.params.tsv"
    cat "$tests/golden/models/resnet18.graph.txt"
} >"$work/resnet18.fx"
"$fxscope" draw "$work/resnet18.fx" -i 1x3x224x224 --meta -o "$work/resnet18.mmd" -o "$work/resnet18.graphml" \
    -o "$work/resnet18.drawio" -o "$work/resnet18.tex" || exit 1
names="hostile framed colored resnet18"

for name in $names; do
    for kind in graphml drawio; do
        if ! command -v xmllint >/dev/null; then
            skip "$name.$kind is valid" "xmllint is not installed"
        elif xmllint --noout --schema "$tests/writers/$kind.xsd" "$work/$name.$kind" 2>"$work/why"; then
            ok "$name.$kind is valid"
        else
            not_ok "$name.$kind is valid" "$(cat "$work/why")"
        fi
    done
done

for name in $names; do
    if ! command -v pdflatex >/dev/null; then
        skip "$name.tex compiles" "pdflatex is not installed"
        continue
    fi
    (cd "$work" && timeout 300 pdflatex -halt-on-error -interaction=nonstopmode "$name.tex") >"$work/why" </dev/null
    if [ -s "$work/$name.pdf" ] && grep -q '(1 page' "$work/why" && ! grep -q 'Missing character' "$work/why"; then
        ok "$name.tex compiles to one page"
    else
        not_ok "$name.tex compiles to one page" "$(grep -A5 '^!' "$work/why")"
    fi
done
if command -v pdftotext >/dev/null && [ -s "$work/hostile.pdf" ]; then
    pdftotext -layout "$work/hostile.pdf" "$work/hostile.txt"
    # shellcheck disable=SC2016,SC2028
    for text in '%%{init: {"theme": "dark"}}%%' 'classDef x fill:#f00;' '\end{document}' '\input{/etc/hosts}' '^^41' '--><!--' \
        '$\alpha$' '</script>' '{{a}}' '~~a~~' 'a|b|c' '&amp;'; do
        if grep -qF -- "$text" "$work/hostile.txt"; then ok "TeX prints $text"; else not_ok "TeX prints $text" ""; fi
    done
else
    skip "TeX prints every character" "pdftotext or pdflatex is not installed"
fi

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ] || [ ! -f "$cache/mermaid.min.js" ] || [ ! -f "$cache/mxClient.min.js" ]; then
    skip "Mermaid and draw.io open the files" "Chromium, or the libraries from npm, are not here"
else
    {
        printf '<!DOCTYPE html><meta charset="utf-8"><body>\n<script>mxLoadResources = mxLoadStylesheets = false; mxBasePath = "";</script>'
        for library in mermaid mxClient; do
            printf '<script src="file://%s/%s.min.js"></script>' "$cache" "$library"
        done
        printf '<script>const pictures = ['
        for name in $names; do
            printf '["%s", {' "$name"
            for kind in mmd graphml drawio; do
                printf '%s: "%s", ' $kind "$(base64 -w 0 "$work/$name.$kind")"
            done
            printf '}], '
        done
        printf '];\n'
        cat "$tests/writers/opened.js"
        printf '</script></body>'
    } >"$work/page.html"
    timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$work/profile" --virtual-time-budget=100000 \
        --dump-dom "file://$work/page.html" 2>"$work/why" |
        sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >"$work/found"
    grep -q '^END' "$work/found" || not_ok "Chromium opens the files" "$(tail -5 "$work/found" "$work/why")"
    while IFS= read -r line; do
        case $line in
        "ok "*) ok "${line#ok }" ;;
        "bad "*) not_ok "${line#bad }" "" ;;
        esac
    done <"$work/found"
fi
echo "1..$n"
[ $bad -eq 0 ]
