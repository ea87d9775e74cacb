#!/bin/sh
# --timeout and --max-memory hold for each stage of a command, whatever it reads and writes: one message that names the
# stage, status 1, and no file that is not whole. So does a signal.
. "${0%/*}/lib.sh"
[ "${FXS_RENDER:-1}" != 0 ] || skip_all "built without pictures"
small_model >m.fx
# chain N: nodes in a row; dense N: each uses thirteen others
chain() {
    awk -v n="$1" 'BEGIN { print "graph():\n    %x : [num_users=1] = placeholder[target=x]"; at = "x"
        for (i = 0; i < n; i++) {
            printf "    %%r%d : [num_users=1] = call_function[target=torch.relu](args = (%%%s,), kwargs = {})\n", i, at
            at = "r" i
        }
        print "    return " at }'
}
dense() {
    awk -v n="$1" 'BEGIN { print "graph():\n    %x : [num_users=1] = placeholder[target=x]"; a[0] = "x"
        for (i = 1; i <= n; i++) {
            a[i] = "r" i
            printf "    %%r%d : [num_users=1] = call_function[target=torch.cat](args = ([%%%s", i, a[i - 1]
            for (k = 1; k < 13; k++) printf ", %%%s", a[int((i * 7919 * k + k * 31) % i)]
            print "],), kwargs = {})"
        }
        print "    return " a[n] }'
}
nothing_left() { # of a command that was to write out.*
    left=$(ls -A | grep -E '^\.fxscope-|^out\.' || true)
    if [ -z "$left" ]; then ok "no file is left"; else not_ok "no file is left" "$left"; fi
    rm -f out.* .fxscope-*
}
chain 1000000 >million.fx
chain 30000 >chain.fx
dense 20000 >dense.fx

# ---- time ----

for command in 'print million.fx' 'draw million.fx --meta -o out.svg' 'table million.fx -o out.txt' \
    'opt million.fx --pass cse -o out.fx' 'check million.fx' 'bench million.fx' \
    'rewrite million.fx --pattern m.fx --replacement m.fx -o out.fx'; do
    # shellcheck disable=SC2086 # words are wanted
    expect 1 $command --timeout 0.2
    says "fxscope: million.fx: the time limit was reached (--timeout 0.2) while reading the model"
    check "that is all" test "$(wc -l <err)" -eq 1
    nothing_left
done
cat >work.fx <<'END'
graph():
    %x : [num_users=1] = placeholder[target=x]
    %a : [num_users=1] = call_function[target=torch.matmul](args = (%x, %x), kwargs = {})
    %b : [num_users=1] = call_function[target=torch.matmul](args = (%a, %x), kwargs = {})
    %c : [num_users=1] = call_function[target=torch.matmul](args = (%b, %x), kwargs = {})
    return c
END
expect 1 table work.fx -i 9000x9000 -o out.txt --timeout 1.5
says "fxscope: work.fx: the time limit was reached (--timeout 1.5) while running the model"
nothing_left
for kind in svg pdf graphml html; do
    expect 1 draw dense.fx -i 4 --meta -o out.$kind --timeout 0.5
    says "fxscope: dense.fx: the time limit was reached (--timeout 0.5) while "
    check "it is told once" test "$(grep -c 'time limit' err)" -eq 1
    nothing_left
done
expect 0 draw m.fx -i 1x4 -o in-time.svg --timeout 100
silent
expect 0 draw m.fx -i 1x4 -o for-ever.svg --timeout 0

# ---- a million nodes ----

expect 1 draw million.fx -i 4 --meta -o out.svg --timeout 300
says "1000002 nodes, and a picture may have 200000"
nothing_left

# ---- memory ----

if [ "${FXS_SANITIZE:-none}" != none ]; then
    skip "memory" "the sanitizer has an allocator of its own, which ends the process when memory is out"
elif [ "$(sed -n 's/VmData:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)" ]; then
    for command in 'print million.fx' 'draw million.fx --meta -o out.svg' 'table million.fx -o out.txt'; do
        # shellcheck disable=SC2086
        expect 1 $command --max-memory 150
        says "out of memory, while reading the model: the limit is 150 MB (--max-memory)"
        nothing_left
    done
    # Wherever it runs out: drawn, or told
    wrong=''
    for mb in 1 10 35 60 110 140; do
        for kind in svg png pdf html; do
            run draw chain.fx -i 4 --meta -o out.$kind --max-memory $mb
            if [ "$status" -eq 0 ] && [ -s out.$kind ]; then
                rm out.$kind
            elif [ "$status" -ne 1 ] || ! grep -q 'out of memory' err || ! only_messages >/dev/null || [ -e out.$kind ]; then
                wrong="$wrong $kind with $mb MB: $status $(head -1 err);"
            fi
        done
    done
    check "memory that is out is told wherever it is ($wrong)" test -z "$wrong"
    nothing_left
else
    skip "memory" "the system does not tell how much is taken"
fi

# ---- a signal ----

for signal in TERM HUP; do
    "$fxscope" draw dense.fx -i 4 --meta -o out.svg >/dev/null 2>&1 &
    pid=$!
    while kill -0 $pid 2>/dev/null && ! ls -A | grep -q '^\.fxscope-'; do sleep 0.05; done
    kill -$signal $pid
    wait $pid
    code=$?
    check "$signal ends it" test $code -gt 128
    nothing_left
done
# A file that was there stays as it was until the new one is whole.
echo old >out.txt
expect 1 table million.fx -o out.txt --timeout 0.2
check "the old file is still there" grep -q old out.txt
finish
