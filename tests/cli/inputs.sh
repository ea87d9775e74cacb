#!/bin/sh
# Hostile -i: refused with a message, or a node that fails; never a crash, and never more memory than there is.
. "${0%/*}/lib.sh"
small_model >m.fx

for spec in x x= =1x4 1x 1xx4 -1 1x-4 ,4 1:float33 1: 1x4: 1x4:: 1x4:float32: 1x4:float32:1 1x4:float32:2..1 \
    1x4:float32:nan..1 1x4:float32:0..inf 99999999999999999999 1000000000000000000x1000000000000000000 \
    4294967296x4294967296 1x4:int64:0..1e30 1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1 int: int:x int:1.5 float: bool: \
    bool:maybe ' ' '1 x 4' '%s%n' "x=1x4 " y=1x4 '*=1x4'; do
    expect 2 table m.fx -i "$spec"
    says "Try 'fxscope table --help'."
done
for spec in @ @missing @. x=@m.fx x=@/dev/null; do
    run table m.fx -i "$spec"
    check "-i $spec is refused" test "$status" -eq 1 -o "$status" -eq 2
    check "-i $spec: with a message" only_messages
done
# No memory is needed for shapes alone, and what can't be had is refused.
expect 0 check m.fx -i 1000000000000000x4
expect 1 table m.fx -i 1000000000000000x4
says "memory"
expect 0 table m.fx -i 1000000000000000x4 --meta

expect 3 table m.fx -i scalar
expect 3 table m.fx -i 4x0
expect 0 table m.fx -i 0x4
expect 3 table m.fx -i none
expect 3 table m.fx -i str:text
expect 3 table m.fx -i int:3
expect 3 table m.fx -i 1x4:int64:0..9
expect 0 table m.fx -i x=1x4:float32:-1..1
expect 0 table m.fx -i 4
expect 3 table m.fx -i 2x2x2x2x2
finish
