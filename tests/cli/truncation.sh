#!/bin/sh
# A model cut off at every byte: the command reads it or refuses it, and never ends by a signal.
. "${0%/*}/lib.sh"
mismatch_model >m.fx
cat >>m.fx <<'END'
parameter scale: torch.float32[1, 64]
buffer mask: torch.bool[2]
END
size=$(($(wc -c <m.fx)))
check "the sample is of a size that can be cut everywhere" test "$size" -gt 300 -a "$size" -lt 1500

# cut_run STATUS ARGUMENT...: remembers the prefix when the status is above STATUS or something but messages is said
bad=''
cut_run() {
    most=$1
    shift
    run "$@"
    if [ "$status" -gt "$most" ] || ! only_messages >/dev/null; then
        bad="$bad $n:$1:$status"
    fi
}
# A sanitized command is slow to start, and these sizes take all states of the reader; the plain one reads every prefix.
step=1
[ "${FXS_SANITIZE:-none}" = none ] || step=5
n=0
while [ "$n" -le "$size" ]; do
    head -c "$n" m.fx >cut.fx
    cut_run 1 print cut.fx --format file
    cut_run 3 table cut.fx -i x=1x512 # 2 when the input's line is cut off
    n=$((n + step))
done
check "print and table take every prefix by $step (not:$bad)" test -z "$bad"
finish
