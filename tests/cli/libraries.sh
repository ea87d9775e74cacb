#!/bin/sh
# libraries: what draws and what factors matrices is opened by the first call that needs it, so that a machine on which a
# library is damaged does everything else, and says of what it can't do which library that is.
. "${0%/*}/lib.sh"
small_model >m.fx
cat >inverse.fx <<'END'
graph():
    %x : [#users=1] = placeholder[target=x]
    %inverse : [#users=1] = call_function[target=torch.inverse](args = (%x,), kwargs = {})
    return inverse
END
cat >product.fx <<'END'
graph():
    %x : [#users=2] = placeholder[target=x]
    %matmul : [#users=1] = call_function[target=torch.matmul](args = (%x, %x), kwargs = {})
    return matmul
END

expect 0 table inverse.fx -i 1x2x2:float64
expect 0 table product.fx -i 1x2x2:float64

mkdir damaged
for file in libopenblas.so.0 libpangocairo-1.0.so.0 libgvc.so.6; do
    : >damaged/$file
done
LD_LIBRARY_PATH=$PWD/damaged${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

expect 0 --version
silent
expect 0 table m.fx -i 1x4
silent
expect 0 check inverse.fx -i 1x2x2
silent
for model in inverse product; do
    expect 3 table $model.fx -i 1x2x2:float64
    says "OpenBLAS can't be opened: $PWD/damaged/libopenblas.so.0: file too short"
done
if [ "${FXS_RENDER:-1}" = 0 ]; then
    skip "pictures without their libraries" "built without pictures"
else
    expect 1 draw m.fx -i 1x4 -o a.svg
    says "what draws text and pictures can't be opened: $PWD/damaged/libpangocairo-1.0.so.0: file too short"
    check "and nothing else" test "$(wc -l <err)" -eq 1
    check "no file is left" test ! -e a.svg
    rm damaged/libpangocairo-1.0.so.0
    expect 0 draw m.fx -i 1x4 -o a.svg
    silent
    expect 0 draw m.fx -i 1x4 -o a.svg --layout dot
    says "dot: $PWD/damaged/libgvc.so.6: file too short"
    check "there is a picture all the same" test -s a.svg
fi
finish
