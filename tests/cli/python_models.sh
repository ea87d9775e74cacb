#!/bin/sh
# Model files in the styles that people write: each is traced, in the first way that works, to the expected graph with the
# expected notes. The graphs of those that PyTorch's torch.fx traces too are what torch.fx 1.13 gives.
. "${0%/*}/lib.sh"

models=$FXS_TESTS/python/models
cp "$models"/*.py .
while read -r spec inputs; do
    name=${spec%%.py*}
    set --
    for i in $inputs; do
        [ "$i" = - ] || set -- "$@" -i "$i"
    done
    run print "$spec" --isolated "$@" --format graph
    grep -v '^ ' err >>out
    if cmp -s out "$models/expected/$name.txt"; then
        ok "$spec: graph and notes"
    else
        not_ok "$spec: graph and notes" "$(diff out "$models/expected/$name.txt" | head -20)"
    fi
done <"$models/inputs.txt"

# Every shape is computed: all but the function that is wrapped, and the one whose input is a dict.
while read -r spec inputs; do
    set --
    for i in $inputs; do
        set -- "$@" -i "$i"
    done
    case $spec in
    message_passing.py* | packed.py*) run table "$spec" --isolated "$@" ;; # shapes that depend on values
    *) run table "$spec" --isolated "$@" --meta ;;
    esac
    case $spec in
    wrapped.py*) judge 3 "$spec: an unknown function" ;;
    *) judge 0 "$spec: every shape" ;;
    esac
done <"$models/inputs.txt"

# Pictures tell on request where a node comes from.
if [ "${FXS_RENDER:-1}" = 1 ]; then
    run draw inherited.py:Residual --isolated -i 2x6 --meta --rows +source,module -o net.svg
    judge 0 "rows for source and module"
    if grep -q '>inherited.py:44<' net.svg && grep -q '> *Residual<' net.svg; then
        ok "the picture tells file, line and module"
    else
        not_ok "the picture tells file, line and module" "$(grep -o '>inherited.py[^<]*' net.svg | head -5)"
    fi
fi

# A script that draws with torch.fx and graphviz by itself: the DOT text is what PyTorch and the package graphviz gave for it.
run run "$FXS_TESTS/python/probe.py" probe.gv
if [ "$status" -eq 0 ] && cmp -s probe.gv "$FXS_TESTS/python/cases/probe.gv"; then
    ok "a script with its own interpreter and graphviz"
else
    not_ok "a script with its own interpreter and graphviz" "$(head -5 err; diff probe.gv "$FXS_TESTS/python/cases/probe.gv" | head)"
fi
if grep -q '<svg' probe.gv.svg && grep -q 'stroke-dasharray' probe.gv.svg; then
    ok "its picture"
else
    not_ok "its picture"
fi
finish
