#!/bin/sh
# Every option of draw with every kind of picture: what `help effects` says takes it changes the bytes, what does not
# refuses it. An option that is added without a sample here fails.
. "${0%/*}/lib.sh"
[ "${FXS_RENDER:-1}" != 0 ] || skip_all "built without pictures"
kinds='svg png pdf html dot mmd graphml drawio tex'
{
    echo 'Net('
    echo '  (a): Sequential('
    echo '    (0): Linear(in_features=4, out_features=4, bias=True)'
    echo '    (1): Dropout(p=0.5, inplace=False)'
    echo '  )'
    echo '  (b): Linear(in_features=4, out_features=4, bias=True)'
    echo ')'
    echo 'graph():'
    echo '    %x : [num_users=1] = placeholder[target=x]'
    echo '    %a_0 : [num_users=1] = call_module[target=a.0](args = (%x,), kwargs = {})'
    echo '    %a_1 : [num_users=1] = call_module[target=a.1](args = (%a_0,), kwargs = {})'
    echo '    %b : [num_users=1] = call_module[target=b](args = (%a_1,), kwargs = {})'
    echo '    %size : [num_users=1] = call_method[target=size](args = (%b, 0), kwargs = {})'
    echo '    %r0 : [num_users=8] = call_method[target=view](args = (%b, %size, 4), kwargs = {})'
    at=r0
    for i in 1 2 3 4 5 6 7 8; do
        echo "    %r$i : [num_users=1] = call_function[target=torch.relu](args = (%$at,), kwargs = {})"
        echo "    %s$i : [num_users=1] = call_function[target=torch.add](args = (%r$i, %r0), kwargs = {})"
        at=s$i
    done
    echo "    return $at"
} >m.fx
printf 'graph():\n    %%x : [num_users=1] = placeholder[target=x]\n' >pattern.fx
printf '    %%r : [num_users=1] = call_function[target=torch.relu](args = (%%x,), kwargs = {})\n    return r\n' >>pattern.fx
printf 'r1,1\nr2,2\ns3,500\n' >numbers.csv
run print m.fx
run opt m.fx --pass cse -o same.fx --save-weights w.safetensors --seed 7
judge 0 "values to read"

"$fxscope" help effects | awk '
    /^  [a-z-]/ { if (line) print line; line = $0; next }
    /^ / && line { line = line " " $0 }
    END { if (line) print line }' >effects

# rule_kinds OPTION: the kinds of picture that take it, of "help effects"
rule_kinds() {
    found=$(sed -n "s/^  draw --$1  *for \(\..*\)/\1/p" effects | sed 's/, with .*//; s/, or for.*//' | grep -o '\.[a-z]*' | tr -d '.' | tr '\n' ' ')
    echo "${found:-$kinds}"
}

# files FOLDER ARGUMENT...: all kinds at once; several files of one kind become one
draw_all() {
    folder=$1
    shift
    rm -rf "$folder"
    mkdir "$folder"
    outputs=''
    for kind in $kinds; do outputs="$outputs -o $folder/p.$kind"; done
    # shellcheck disable=SC2086 # words are wanted
    run draw m.fx -i 2x4 $outputs "$@"
    if [ ! -e "$folder/p.png" ]; then cat "$folder"/p-*.png >"$folder/p.png" 2>/dev/null; fi
}

# changes OPTION "BASE..." "WITH...": the kinds that take the option differ, the others do not; those refuse it alone
changes() {
    option=$1
    sampled="$sampled $option"
    taken=" $(rule_kinds "$option") "
    if [ "$2" != "$drawn" ]; then # else the pictures of the option before are those
        # shellcheck disable=SC2086
        draw_all before $2
        judge 0 "without any option to try: $2"
        drawn=$2
    fi
    # shellcheck disable=SC2086
    draw_all after $3
    judge 0 "with --$option: $3"
    wrong=''
    for kind in $kinds; do
        case $taken in
        *" $kind "*) cmp -s "before/p.$kind" "after/p.$kind" && wrong="$wrong $kind is the same;" ;;
        *)
            cmp -s "before/p.$kind" "after/p.$kind" || wrong="$wrong $kind differs;"
            # shellcheck disable=SC2086
            run draw m.fx -i 2x4 -o "refused.$kind" $3
            if [ "$status" -ne 2 ] || ! grep -q "would have no effect here: it is for \." err || [ -e "refused.$kind" ]; then
                wrong="$wrong $kind does not refuse it;"
            fi
            ;;
        esac
    done
    if [ -z "$wrong" ]; then ok "--$option does what help effects says"; else not_ok "--$option" "$wrong"; fi
}
sampled=''
drawn=none

while read -r option base with; do
    case $option in '' | '#'*) continue ;; esac
    [ "$base" != - ] || base=''
    # '~' is a blank within a column
    changes "$option" "$(echo "$base" | tr '~' ' ')" "$(echo "$with" | tr '~' ' ')"
done <<'END'
title          -                    --title~Mine
theme          -                    --theme~grey
direction      -                    --direction~LR
show           -                    --show~+args
rows           -                    --rows~name
color-by       -                    --color-by~family
overlay        -                    --overlay~numbers.csv
edge-shapes    -                    --edge-shapes
dpi            -                    --dpi~120
layout         -                    --layout~dot
ghost-hubs     -                    --ghost-hubs~4
columns        -                    --columns~2
fit-width      -                    --fit-width~333px
page           -                    --page~a5
stats          -                    --stats
depth          -                    --depth~1
collapse       -                    --collapse~a
leaf           -                    --leaf~a
focus          -                    --focus~a
fold           -                    --fold
hide           -                    --hide~relu
pattern        -                    --pattern~pattern.fx
only-tensors   -                    --only-tensors
clusters       -                    --clusters
palette        --color-by~family    --color-by~family~--palette~grey
scale          --color-by~flops~--scale~linear  --color-by~flops~--scale~log
expand         --depth~1            --depth~1~--expand~a
landscape      --page~a5            --page~a5~--landscape
png-fit        --png-fit~error      --png-fit~strip~--tile~3000x500
tile           --png-fit~strip~--tile~3000x500  --png-fit~strip~--tile~3000x700
force          --png-fit~strip~--tile~3000x500  --png-fit~scale~--tile~3000x500~--force
meta           --show~+time         --meta
weights        --stats              --stats~--weights~w.safetensors
train          --stats              --stats~--train
seed           --stats              --stats~--seed~5
END

# Each option is here, or is one that changes no picture of a graph and says so or is tested elsewhere.
elsewhere=' input output format help threads timeout max-memory max-nodes layout-seconds '
python_only=$(sed -n 's/^  --\([a-z-]*\)  *for a model in Python$/\1/p' effects | tr '\n' ' ')
missing=''
for option in $("$fxscope" draw --help | sed -n 's/^  .*--\([a-z0-9-]*\).*/\1/p' | sort -u); do
    case " $sampled $elsewhere $python_only" in *" $option "*) ;; *) missing="$missing $option" ;; esac
done
check "every option of draw has a sample (not:$missing)" test -z "$missing"
for kind in dot mmd; do
    expect 2 draw m.fx -i 2x4 --layout-seconds 9 -o late.$kind
    says "--layout-seconds would have no effect here"
done
for option in $python_only; do
    case $option in
    arg) value=a=1 ;;
    trace) value=plain ;;
    path) value=. ;;
    allow) value=net ;;
    *) value='' ;;
    esac
    for command in draw print table; do
        output=''
        [ $command = print ] || output='-o none.svg'
        # shellcheck disable=SC2086
        expect 2 $command m.fx $output --"$option" $value
        says "it is for a model in Python"
    done
done
# What needs another option or another value of one, of all commands
while read -r line; do
    # shellcheck disable=SC2086
    expect 2 $line
    says "would have no effect here: it is "
done <<'END'
draw m.fx -i 2x4 -o a.svg --scale log
draw m.fx -i 2x4 -o a.svg --scale log --color-by kind
draw m.fx -i 2x4 -o a.svg --palette dark
draw m.fx -i 2x4 -o a.svg --palette dark --stats
draw m.fx -i 2x4 -o a.png --tile 500x500
draw m.fx -i 2x4 -o a.png --tile 500x500 --png-fit full
draw m.fx -i 2x4 -o a.png --force
draw m.fx -i 2x4 -o a.png --force --png-fit strip
draw m.fx -i 2x4 -o a.svg --expand a
table m.fx -i 2x4 --expand a
draw m.fx -i 2x4 -o - --format svg --page a4
print m.fx --format tabular --torch2
print m.fx --format modules --torch2
opt m.fx --pass cse --seed 3
run --allow net nothing.py
check net.py -i 1
check net.py --weights w.safetensors
check net.py --train
END
expect 0 draw m.fx -i 2x4 -o a.svg -o a.pdf --page a5
expect 2 opt m.fx --pass cse --dump-after dead-code
says "add --pass dead-code"
expect 2 ops relu --coverage numbers.csv
says "give one of them"
# An option twice
expect 2 draw m.fx -i 2x4 -o a.svg --dpi 96 --dpi 50
says "option --dpi: '96' is its value already (--dpi), and '50' would be another"
expect 2 draw m.fx -i 2x4 -o a.svg --show name --rows kind
expect 2 print m.fx --format graph --format file
expect 0 draw m.fx -i 2x4 -o a.svg --theme dark --theme dark --clusters --clusters
finish
