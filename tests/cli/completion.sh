#!/bin/sh
# The completion script: bash loads it, and it completes commands, options and words.
. "${0%/*}/lib.sh"
command -v bash >/dev/null || skip_all "bash is not installed"
expect 0 completion bash
cp out fxscope.bash
check "bash loads it" bash -n fxscope.bash

# completions WORD...: what is offered for the last word
completions() {
    bash -c '. ./fxscope.bash || exit 1
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _fxscope
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" 2>&1
}
offers() { # expected (words with blanks between), WORD...
    want=$1
    shift
    got=$(completions "$@" | tr '\n' ' ')
    if [ "$got" = "$want " ]; then ok "fxscope $* offers $want"; else not_ok "fxscope $* offers $want" "got: $got"; fi
}
nothing=''
offers draw fxscope dr
offers "print" fxscope pr
offers "--help" fxscope --h
offers "--version" fxscope --v
offers "--theme --threads" fxscope draw --th
offers "--threads" fxscope draw m.fx --thr
offers "light dark grey" fxscope draw m.fx --theme ''
offers "dark" fxscope draw m.fx --theme d
offers "dark" fxscope draw m.fx --theme = d
offers "light dark grey" fxscope draw m.fx --theme =
offers "name,result" fxscope draw m.fx --rows name,resu
offers "stats" fxscope draw m.fx --rows stat
offers "graph tabular modules file code python" fxscope print m.fx --format ''
offers "json" fxscope table --format j
offers "$nothing" fxscope draw m.fx -o ''
offers "$nothing" fxscope draw m.fx -i ''
offers "$nothing" fxscope draw ''
offers "bash" fxscope completion ''
offers "draw" fxscope help d
offers "inputs" fxscope help in
offers "$nothing" fxscope nonsense --
if command -v shellcheck >/dev/null; then
    check "shellcheck finds nothing in it" shellcheck -s bash fxscope.bash
else
    skip "shellcheck finds nothing in it" "shellcheck is not installed"
fi
finish
