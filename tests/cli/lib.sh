# lib.sh: what the tests of the command share: running it, comparing, TAP, and the models they use.
# A test sources it: . "${0%/*}/lib.sh"; it is run with the command's path as its argument and FXS_TESTS set to tests/.
# The test's folder is then a new empty one.
# shellcheck shell=sh
set -u
LC_ALL=C
export LC_ALL
case $1 in
/*) fxscope=$1 ;;
*) fxscope=$PWD/$1 ;; # Meson gives it from the build folder
esac
here=$(cd "${0%/*}" && pwd)
golden=${FXS_TESTS:-$here/..}/golden/models
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0${LSAN_OPTIONS:+:$LSAN_OPTIONS}"
count=0
failures=0
status=0

# ok NAME, not_ok NAME [DETAIL], skip NAME REASON: one line of TAP
ok() {
    count=$((count + 1))
    echo "ok $count - $1"
}
not_ok() {
    count=$((count + 1))
    failures=$((failures + 1))
    echo "not ok $count - $1"
    [ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
}
skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}
# skip_all REASON: the whole test
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
# finish: to be called last
finish() {
    echo "1..$count"
    [ "$failures" -eq 0 ]
    exit
}

# check NAME COMMAND...: the command succeeds
check() {
    name=$1
    shift
    if "$@" >check.log 2>&1; then ok "$name"; else not_ok "$name" "$(head -5 check.log)"; fi
}

# run ARGUMENT...: runs fxscope; leaves $status and the files out and err. Standard input is empty.
run() {
    status=0
    "$fxscope" "$@" >out 2>err </dev/null || status=$?
}

# Standard error holds nothing but our messages, so no sanitizer's report either. (AddressSanitizer warns of every
# refused allocation.)
only_messages() {
    ! grep -Ev '^(fxscope: |  |Try .fxscope .*--help.\.$|==[0-9]+==WARNING: AddressSanitizer failed to allocate)' err
}

# judge STATUS NAME: the last run's status, and its messages' form
judge() {
    if [ "$status" -ne "$1" ]; then
        not_ok "$2" "status $status, expected $1; $(head -3 err)"
    elif ! only_messages >bad; then
        not_ok "$2" "not a message: $(head -3 bad)"
    else
        ok "$2"
    fi
}
# expect STATUS ARGUMENT...: runs fxscope and judges; the arguments are the name
expect() {
    want=$1
    shift
    run "$@"
    judge "$want" "fxscope $(printf '%s' "$*" | tr -c '[:print:]' '?' | tr '#' '?') gives $want"
}

# says TEXT, prints TEXT: the last run's messages or output contain it; silent, prints_nothing: they are empty
says() {
    if grep -qF -e "$1" err; then ok "it says: $1"; else not_ok "it says: $1" "$(head -4 err)"; fi
}
prints() {
    if grep -qF -e "$1" out; then ok "it prints: $1"; else not_ok "it prints: $1" "$(head -4 out)"; fi
}
silent() {
    if [ -s err ]; then not_ok "it says nothing" "$(head -4 err)"; else ok "it says nothing"; fi
}
prints_nothing() {
    if [ -s out ]; then not_ok "it prints nothing" "$(head -4 out)"; else ok "it prints nothing"; fi
}

# ---- models ----

# golden_model NAME: a golden model as one file: module tree, declarations, graph
golden_model() {
    cat "$golden/$1.modules.txt" &&
        awk -F '\t' '{ print $1 " " $2 ": torch." $3 $4 }' "$golden/$1.params.tsv" && cat "$golden/$1.graph.txt"
}

# A shape that does not fit
mismatch_model() {
    cat <<'END'
Net(
  (fc): Linear(in_features=100, out_features=10, bias=True)
)
graph():
    %x : [#users=1] = placeholder[target=x]
    %fc : [#users=1] = call_module[target=fc](args = (%x,), kwargs = {})
    %relu : [#users=1] = call_function[target=torch.relu](args = (%fc,), kwargs = {})
    return relu
END
}

# An operator (twice), a layer and a method that are not known
unknown_model() {
    cat <<'END'
Net(
  (odd): Mystery(3)
)
graph():
    %x : [#users=4] = placeholder[target=x]
    %a : [#users=1] = call_function[target=torch.nope.mystery](args = (%x,), kwargs = {})
    %b : [#users=1] = call_function[target=torch.nope.mystery](args = (%x,), kwargs = {})
    %c : [#users=1] = call_module[target=odd](args = (%x,), kwargs = {})
    %d : [#users=1] = call_method[target=mystify](args = (%x,), kwargs = {})
    return (a, b, c, d)
END
}

# A small model that is well: one input, one layer
small_model() {
    cat <<'END'
Small(
  (fc): Linear(in_features=4, out_features=2, bias=True)
)
graph():
    %x : [#users=1] = placeholder[target=x]
    %fc : [#users=1] = call_module[target=fc](args = (%x,), kwargs = {})
    return fc
END
}
