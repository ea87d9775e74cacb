#!/bin/sh
# ops: the operator table, whole and filtered.
. "${0%/*}/lib.sh"
expect 0 ops
silent
prints "conv2d"
prints "Linear"
all=$(wc -l <out)
expect 0 ops conv2d
prints "torch.conv2d"
check "a filter keeps a part" test "$(wc -l <out)" -lt "$all"
expect 0 ops no_such_operator
prints "0 operators, 0 layers"
finish
