#!/bin/sh
# Files and streams that fail: a message and status 1, never a signal; a closed pipe is quiet.
. "${0%/*}/lib.sh"
small_model >m.fx
mkdir folder folder.svg

expect 1 print missing.fx
says "missing.fx: can't be opened: No such file or directory"
expect 1 print folder
says "directory"
expect 1 print /dev/null
says "/dev/null:1:1:"
expect 1 table m.fx -i 1x4 -o no/such/folder/t.txt
says "no/such/folder/t.txt: can't be opened for writing"
expect 1 table m.fx -i 1x4 -o folder
expect 1 table m.fx -i x=@missing.npy
says "missing.npy"
expect 1 print -
says "<stdin>:1:1:"

status=0
"$fxscope" print - <m.fx >out 2>err || status=$?
judge 0 "'-' is standard input"
"$fxscope" print m.fx >out2 2>err
check "and it is the same model" cmp out out2
status=0
"$fxscope" print - <&- >out 2>err || status=$?
judge 1 "closed standard input"
says "<stdin>: can't be read"
status=0
"$fxscope" print m.fx >&- 2>err || status=$?
judge 1 "closed standard output"
says "standard output can't be written"
status=0
"$fxscope" table m.fx -i 1x4 -o t.txt >&- 2>err || status=$?
check "an output file does not become standard output" grep -q fc t.txt
status=0
"$fxscope" print missing.fx >out 2>&- || status=$?
: >err
judge 1 "closed standard error"

if [ -w /dev/full ]; then
    for arguments in "print m.fx" "table m.fx -i 1x4" "ops" "man" "--help" "--version" "draw --help" \
        "completion bash"; do
        status=0
        # shellcheck disable=SC2086 # words are wanted
        "$fxscope" $arguments >/dev/full 2>err </dev/null || status=$?
        judge 1 "fxscope $arguments >/dev/full"
        says "No space left on device"
    done
    expect 1 table m.fx -i 1x4 -o /dev/full
    says "/dev/full: can't be written: No space left on device"
else
    skip "/dev/full" "there is no /dev/full"
fi

# The reader is gone before anything is written.
{
    sleep 0.2
    status=0
    "$fxscope" man 2>err || status=$?
    echo "$status" >status
} | true
while [ ! -s status ]; do sleep 0.1; done
status=$(cat status)
judge 1 "a closed pipe"
silent
finish
