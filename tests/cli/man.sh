#!/bin/sh
# The manual page: groff finds nothing to warn of, and man shows it.
. "${0%/*}/lib.sh"
command -v groff >/dev/null || skip_all "groff is not installed"
expect 0 man
cp out fxscope.1
groff -man -Tascii -wall fxscope.1 >page 2>warnings
check "groff reads it" test -s page
if [ -s warnings ]; then not_ok "groff warns of nothing" "$(head -5 warnings)"; else ok "groff warns of nothing"; fi
if command -v man >/dev/null; then
    check "man shows it" sh -c 'MANWIDTH=80 man -l fxscope.1 >page && grep -q "EXIT STATUS" page'
else
    skip "man shows it" "man is not installed"
fi
check "a quote survives" grep -q "may come in any order; '--' ends" page
check "it warns that a model file is run" grep -q 'A model file in Python is a program' fxscope.1
check "it tells the limits that hold where none is given" sh -c '
    grep -q "0 is for ever (default: 60)" fxscope.1 && grep -q "0 is no limit (default: 0)" fxscope.1'
finish
