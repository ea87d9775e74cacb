#!/bin/sh
# Wrong command lines: each is status 2, says what is wrong and where help is, and does nothing.
. "${0%/*}/lib.sh"
small_model >m.fx

expect 2
says "no command"
says "Try 'fxscope --help'."
expect 2 frobnicate m.fx
says "there is no command 'frobnicate'"
expect 2 --frobnicate
says "unknown or ambiguous option '--frobnicate'"
expect 2 -
expect 2 --
expect 2 ''
for command in draw print table bench check; do
    expect 2 "$command"
    says "Try 'fxscope $command --help'."
    expect 2 "$command" m.fx surplus
    expect 2 "$command" --nonsense m.fx
    says "unknown or ambiguous option '--nonsense'"
    expect 2 "$command" -Q m.fx
    says "unknown option '-Q'"
    expect 2 "$command" m.fx --help=yes
    says "takes no value"
    expect 2 "$command" ''
done
prints_nothing

expect 2 draw m.fx
says "add -o FILE.svg"
expect 2 draw m.fx -o
says "option --output needs a value"
expect 2 draw m.fx -o ''
expect 2 draw m.fx --dpi 0 -o a.svg
says "is not a number from 1 to 2400"
expect 2 draw m.fx --dpi 96dots -o a.svg
expect 2 draw m.fx --dpi nan -o a.svg
expect 2 draw m.fx --dpi 0x60 -o a.svg
expect 2 draw m.fx --threads 1.5 -o a.svg
expect 2 draw m.fx --threads -1 -o a.svg
expect 2 draw m.fx --threads=257 -o a.svg
expect 2 draw m.fx --seed -1 -o a.svg
expect 2 draw m.fx --seed 18446744073709551616 -o a.svg
expect 2 draw m.fx --layout-seconds 0 -o a.svg
expect 2 draw m.fx --theme purple -o a.svg
says "'purple' is none of light, dark"
expect 2 draw m.fx --rows name,nonsense -o a.svg
says "'nonsense' is none of name, kind"
expect 2 draw m.fx --rows name, -o a.svg
expect 2 draw m.fx --rows '' -o a.svg
expect 2 draw m.fx --direction up -o a.svg
expect 2 draw m.fx --layout neato -o a.svg
says "'neato' is none of auto, layered, dot"
expect 2 draw m.fx --max-nodes 0 -o a.svg
expect 2 draw m.fx --png-fit crop -o a.svg
expect 2 draw m.fx --columns 0 -o a.svg
expect 2 draw m.fx -i 1x4 --fit-width wide -o a.svg
says "not 'wide'"
expect 2 draw m.fx -i 1x4 --fit-width page -o a.svg
expect 2 draw m.fx -i 1x4 --tile 10 -o a.png
expect 2 draw m.fx -i 1x4 --page a9 -o a.pdf
says "a3, a4"
expect 2 draw m.fx -i 1x4 --landscape -o a.pdf
expect 2 print m.fx --format yaml
says "'yaml' is none of graph, tabular, modules, file"
expect 2 table m.fx --format yaml
expect 2 table m.fx --meta --stats
expect 2 ops one two
expect 2 help nonsense
expect 2 help draw print
expect 2 completion
expect 2 completion tcsh
expect 2 man surplus

# Options and arguments in any order, with = and without, abbreviated, and -- to end them.
small_model >-x.fx
expect 0 print --format modules m.fx
expect 0 print m.fx --format=modules
expect 0 print m.fx --form modules
expect 0 print -- m.fx
expect 0 print -- -x.fx
expect 0 table -i1x4 m.fx
expect 0 table --input=1x4 m.fx
silent
POSIXLY_CORRECT=1
export POSIXLY_CORRECT
expect 0 print m.fx --format=modules
finish
