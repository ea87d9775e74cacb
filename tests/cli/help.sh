#!/bin/sh
# --help, help, --version, the manual page and the completion script: printed from the same rows, so all of them name
# every command and option.
. "${0%/*}/lib.sh"
commands='draw print table check ops rewrite opt help completion man'

expect 0 --version
check "the version is one line" grep -qx 'fxscope [0-9][0-9.]*' out
expect 0 --help
cp out overview
expect 0 -h
check "-h is --help" cmp out overview
expect 0 help
check "help is --help" cmp out overview
expect 0 man
cp out fxscope.1
expect 0 completion bash
cp out fxscope.bash

for command in $commands; do
    check "the overview names $command" grep -q "^  $command " overview
    expect 0 "$command" --help
    silent
    cp out help.txt
    check "help of $command is at most 79 columns wide, but for examples" \
        sh -c "! sed '/^Examples:/,\$d' help.txt | grep -E '^.{80}'"
    expect 0 help "$command"
    check "help $command is $command --help" cmp out help.txt
    expect 0 "$command" -h
    check "the manual page has $command" grep -qF ".SS \"fxscope $command\"" fxscope.1
    grep "^    $command) " fxscope.bash >words
    check "completion has $command" test -s words
    for option in $(sed -n 's/^  .*  *--\([a-z0-9-]*\).*/\1/p' help.txt); do
        check "completion has $command --$option" grep -qE -- "[' ]--${option}[' ]" words
        check "the manual page has --$option" grep -qF -- "\\-\\-$(echo "$option" | sed 's/-/\\-/g')" fxscope.1
    done
done

has_options() { # command, options that its help must name
    command=$1
    shift
    "$fxscope" "$command" --help >help.txt
    for option in "$@"; do
        check "$command --help explains --$option" grep -qE -- "^ .*--$option( |\$)" help.txt
    done
}
run_options='input meta stats train seed threads help'
# shellcheck disable=SC2086 # words are wanted
python_options='arg trace strict path isolated allow timeout max-memory traceback'
has_options draw $run_options $python_options output format title theme direction rows dpi layout layout-seconds ghost-hubs max-nodes png-fit \
    columns fit-width tile force page landscape
has_options print format torch2 $python_options help
# shellcheck disable=SC2086
has_options table $run_options $python_options format output
has_options run path isolated guard allow timeout max-memory traceback help
has_options check input train threads help
has_options rewrite pattern replacement output help
has_options opt pass dump-after input output seed help

for topic in models inputs exit-status; do
    check "the overview names $topic" grep -q "^  $topic " overview
    expect 0 help $topic
done
prints "3 "
expect 0 draw --help --dpi 96
expect 0 draw --help surplus and more
finish
