#!/bin/sh
# draw: pictures are there and what they say they are, also of models that are not well; wrong outputs are refused
# before the work. FXS_RENDER=0: built without pictures, which draw has to say.
. "${0%/*}/lib.sh"
small_model >m.fx
mismatch_model >mismatch.fx
unknown_model >unknown.fx
mkdir folder.svg

if [ "${FXS_RENDER:-1}" = 0 ]; then
    expect 1 draw m.fx -i 1x4 -o a.svg
    says "built without pictures"
    finish
fi

is_svg() { head -c 300 "$1" | grep -q '<svg' && tail -c 20 "$1" | grep -q '</svg>'; }
is_png() { head -c 8 "$1" | od -An -c | grep -q 'P   N   G'; }

expect 0 draw m.fx -i 1x4 -o a.svg -o a.png -o a.pdf -o a.dot
silent
prints_nothing
check "the SVG is one" is_svg a.svg
check "the PNG is one" is_png a.png
check "the PDF is one" sh -c 'head -c 5 a.pdf | grep -q %PDF-'
check "the DOT is one" grep -q graph a.dot
check "the picture shows the result" grep -q '1, 2' a.svg
expect 0 draw m.fx -i 1x4 -o a.mmd -o a.graphml -o a.drawio -o a.tex
silent
check "the Mermaid is one" grep -q '^flowchart TB' a.mmd
check "the GraphML is one" grep -q '^<graphml ' a.graphml
check "the draw.io file is one" grep -q '^<mxfile ' a.drawio
check "the TikZ is a document" grep -q '^.begin{tikzpicture}' a.tex
for kind in mmd graphml drawio tex; do
    expect 0 draw m.fx -i 1x4 -o - --format $kind
    check "$kind is the same on standard output" cmp out a.$kind
done
expect 0 draw m.fx -i 1x4 -o b.svg
check "the same picture again, byte for byte" cmp a.svg b.svg
if command -v python3 >/dev/null; then
    check "the SVG is XML" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("a.svg")'
else
    skip "the SVG is XML" "python3 is not installed"
fi

expect 0 draw m.fx -i 1x4 -o - --format svg
check "-o - --format svg prints the picture" cmp a.svg out
expect 0 draw m.fx -i 1x4 -o c.svg -o - --format dot
check "a file and standard output" is_svg c.svg
prints graph
expect 0 draw m.fx -i 1x4 -o a.html -o b.svg
check "the page is one" sh -c 'head -1 a.html | grep -q "<!DOCTYPE html>" && tail -1 a.html | grep -q "</html>"'
check "the page shows the result" grep -q '1, 2' a.html
expect 0 draw m.fx -i 1x4 -o b.html
check "the same page again, byte for byte" cmp a.html b.html
expect 0 draw m.fx -i 1x4 -o - --format html
check "-o - --format html prints the page" cmp a.html out
expect 0 draw m.fx -i 1x4 --meta -o c.svg
expect 0 draw m.fx -i 1x4 --title 'A <&"> title' --theme dark --direction LR --dpi 50 --layout dot \
    --max-nodes 99 --layout-seconds 9.5 --png-fit scale --stats --train --seed 7 --threads 2 \
    --rows +args,stride,params,flops,time -o d.svg -o d.png
check "the title is escaped" grep -q 'A &lt;&amp;' d.svg
expect 0 draw m.fx -i 1x4 --rows name -o e.svg
check "fewer rows, smaller picture" test "$(wc -c <e.svg)" -lt "$(wc -c <d.svg)"

# A long model in columns, strips, tiles and at a width
{
    echo 'graph():'
    echo '    %x : [num_users=1] = placeholder[target=x]'
    at=x
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        echo "    %r$i : [num_users=1] = call_function[target=torch.relu](args = (%$at,), kwargs = {})"
        at=r$i
    done
    echo "    return $at"
} >long.fx
expect 0 draw long.fx -i 1x4 --columns 3 -o columns.svg -o columns.png -o columns.pdf
expect 0 draw long.fx -i 1x4 -o one.svg
height() { sed -n '1s/.* height="\([0-9]*\)".*/\1/p' "$1"; }
check "columns make a picture lower" test "$(height columns.svg)" -lt "$(($(height one.svg) / 2))"
expect 0 draw long.fx -i 1x4 --columns 99 -o few.svg
says "not 99: there are no more places to cut"
expect 0 draw long.fx -i 1x4 --fit-width 150px -o width.svg -o width.png
check "the SVG has that width" grep -q ' width="150" ' width.svg
check "the PNG has that width" sh -c 'test "$(od -An -tu1 -j16 -N4 width.png | tr -d " ")" = 000150'
expect 0 draw long.fx -i 1x4 --fit-width 1in -o width.svg
says "points high"
# A PNG that can't be read is not made without a word, whatever makes it so small
for option in '--fit-width 16px' '--fit-width 16pt' '--dpi 2'; do
    # shellcheck disable=SC2086 # words are wanted
    expect 1 draw long.fx -i 1x4 $option -o tiny.png
    says "which can't be read"
    check "nothing is written with $option" test ! -e tiny.png
    # shellcheck disable=SC2086
    expect 0 draw long.fx -i 1x4 $option --force -o tiny.png
    rm tiny.png
done
for width in 1px 15.9px 15pt 5mm; do
    expect 2 draw long.fx -i 1x4 --fit-width $width -o tiny.svg
    says "can't have a width of $width"
done
awk 'BEGIN { print "graph():\n    %x : [num_users=1] = placeholder[target=x]"; a[0] = "x"
    for (i = 1; i <= 4000; i++) {
        a[i] = "r" i
        printf "    %%r%d : [num_users=1] = call_function[target=torch.cat](args = ([%%%s, %%%s, %%%s],), kwargs = {})\n",
            i, a[i - 1], a[int(i * 7919 % i)], a[int(i / 3)]
    }
    print "    return " a[4000] }' >tangle.fx
expect 1 draw tangle.fx --layout-seconds 0.001 --layout layered -o late.svg
says "fxscope: layout: layered: took longer than 0.001 s"
says "edges: show less of it (--depth, --fold, --focus), or give the layout more time"
check "it is told once" test "$(grep -c layered err)" -eq 1
expect 0 draw long.fx -i 1x4 --png-fit strip --tile 800x700 -o strip.png
says "strips: strip-1.png to strip-"
check "strips are there, and no whole" sh -c 'test -f strip-1.png -a -f strip-2.png -a ! -e strip.png'
check "a strip is a PNG" is_png strip-2.png
cp strip-2.png again.png
expect 0 draw long.fx -i 1x4 --png-fit strip --tile 800x700 -o strip.png
check "the same strip again, byte for byte" cmp strip-2.png again.png
expect 0 draw long.fx -i 1x4 --png-fit tile --tile 100x700 -o tile.png
says "tiles: tile-r1-c1.png to tile-r"
check "tiles are there" is_png tile-r1-c2.png
expect 2 draw long.fx -i 1x4 --png-fit tile --tile 100x700 -o - --format png
says "several files"
expect 1 draw long.fx -i 1x4 --png-fit scale --tile 100x700 -o scaled.png
says "which can't be read"
expect 0 draw long.fx -i 1x4 --png-fit scale --tile 100x700 --force -o scaled.png
says "pixels high"
expect 1 draw long.fx -i 1x4 --png-fit error --tile 100x700 -o refused.png
check "what is refused is not there" test ! -e refused.png

expect 0 draw long.fx -i 1x4 --page a5 --landscape -o pages.pdf
silent
check "pages of a PDF are there" test "$(grep -ac '/MediaBox' pages.pdf)" -gt 3
cp pages.pdf again.pdf
expect 0 draw long.fx -i 1x4 --page a5 --landscape -o pages.pdf
check "the same pages again, byte for byte" cmp pages.pdf again.pdf
expect 0 draw long.fx -i 1x4 --page a5 --fit-width page -o pages.pdf
if command -v pdftotext >/dev/null; then
    pdftotext -layout pages.pdf pages.txt
    check "a line that leaves a page says where it goes" grep -q 'to page 3: ' pages.txt
    check "and where it comes from" grep -q 'from page 2: ' pages.txt
    check "pages are numbered" grep -q 'page 2 of ' pages.txt
else
    skip "texts of pages" "pdftotext is not installed"
fi

expect 1 draw m.fx -i 1x4 --max-nodes 2 -o f.svg
says "nodes, and a picture may have 2"
check "a graph that is too large is not drawn" test ! -e f.svg
cat >circle.fx <<'END'
graph():
    %x : [num_users=1] = placeholder[target=x]
    %a : [num_users=1] = call_function[target=operator.add](args = (%x, %b), kwargs = {})
    %b : [num_users=1] = call_function[target=torch.relu](args = (%a,), kwargs = {})
    return b
END
expect 3 draw circle.fx -i 1x4 -o circle.svg
says "used before it has been defined"
check "a graph with a cycle is drawn" is_svg circle.svg

expect 3 draw mismatch.fx -i 1x512 -o f.svg
says "while running %fc : "
check "a model that fails is drawn" is_svg f.svg
expect 3 draw unknown.fx -i 1 -o g.svg
check "a model with unknown operators is drawn" is_svg g.svg
expect 3 draw m.fx -o h.svg
says "no input is given for x"
check "a model without its input is drawn" is_svg h.svg
expect 2 draw m.fx -i z=1x4 -o i.svg
check "a model with a wrong input is not" test ! -e i.svg

expect 2 draw m.fx -i 1x4 -o picture.jpeg
says "picture.jpeg: what kind of picture?"
expect 2 draw m.fx -i 1x4 -o picture
expect 2 draw m.fx -i 1x4 -o folder.svg/picture
expect 2 draw m.fx -i 1x4 -o -
says "add --format svg"
expect 2 draw m.fx -i 1x4 -o i.svg --format svg
expect 2 draw m.fx -i 1x4 -o - --format jpeg
expect 2 draw m.fx -i 1x4 -o i.svg --meta --stats
expect 2 draw m.fx -i 1x4 -o i.svg --meta --rows time
check "nothing was drawn" test ! -e i.svg
expect 1 draw m.fx -i 1x4 -o i.svg -o no/such/folder/a.svg
says "no/such/folder/a.svg"
check "one output that can't be written: none is" test ! -e i.svg
expect 1 draw m.fx -i 1x4 -o folder.svg
# Memory that is out is told, and is the end: whatever threads there are.
if (ulimit -v 150000 && exec timeout 20 "$fxscope" --version) >/dev/null 2>&1; then
    awk 'BEGIN { print "graph():\n    %x : [num_users=1] = placeholder[target=x]"; at = "x"
        for (i = 0; i < 60000; i++) {
            printf "    %%r%d : [num_users=1] = call_function[target=torch.relu](args = (%%%s,), kwargs = {})\n", i, at
            at = "r" i
        }
        print "    return " at }' >huge.fx
    status=0
    (ulimit -v 150000 && exec timeout 60 "$fxscope" draw huge.fx -i 4 --meta -o huge.svg) 2>err </dev/null || status=$?
    judge 1 "fxscope draw without memory"
    says "out of memory"
    check "nothing was drawn without memory" test ! -e huge.svg
    rm huge.fx
    # Nor does a thread that can't be started end the program: fonts are looked up in threads.
    for kib in 150000 220000 250000 300000 400000; do
        rm -f few.svg
        status=0
        (ulimit -v $kib && exec timeout 60 "$fxscope" draw m.fx -i 1x4 --meta -o few.svg) 2>err </dev/null || status=$?
        if [ $status -eq 0 ]; then
            check "drawn within $kib KiB" test -s few.svg
        else
            judge 1 "fxscope draw within $kib KiB"
            says "out of memory"
            check "nothing was drawn within $kib KiB" test ! -e few.svg
        fi
    done
    rm -f few.svg
else
    skip "drawing without memory" "the limit is too low for this build"
fi
status=0
"$fxscope" draw m.fx -i 1x4 -o - --format svg >/dev/full 2>err </dev/null || status=$?
judge 1 "fxscope draw -o - >/dev/full"
# What options alone say wrong is found before the model is read, which is not there; and so is a folder that is not
# there, by every command that writes.
early() { # STATUS TEXT ARGUMENT...
    expected=$1 text=$2
    shift 2
    run "$@"
    judge "$expected" "fxscope $* says so before it reads"
    says "$text"
}
early 2 "there is no page of size 'a9'" draw none.fx -o x.pdf --page a9
early 2 "a width must be a number" draw none.fx -o x.svg --fit-width 3parsec
early 2 "a tile must be WIDTHxHEIGHT" draw none.fx -o x.png --png-fit tile --tile 7
early 1 "none/x.svg: can't be opened for writing" draw none.fx -o x.png -o none/x.svg
early 1 "none/x.svg: can't be opened for writing" bench none.fx -o none/x.svg
early 1 "none/x.fx: can't be opened for writing" opt none.fx --pass cse -o none/x.fx
early 1 "none/w.safetensors: can't be opened for writing" opt none.fx --pass cse --save-weights none/w.safetensors
mkdir folder.svg
early 1 "folder.svg: can't be opened for writing: Is a directory" draw none.fx -o folder.svg
ln -s folder.svg link.svg
early 1 "link.svg: can't be opened for writing: Is a directory" draw none.fx -o link.svg
ln -s nowhere.svg loose.svg
run draw m.fx -i 1x4 --meta -o loose.svg
judge 0 "a link that leads nowhere is followed"
check "to where it leads" test -s nowhere.svg
check "looking leaves nothing behind" test -z "$(find . -name '.fxscope*' -o -name 'x.*')"
finish
