#!/bin/sh
# `fxscope run`: a script's arguments, output, exit status and exceptions; the seat belt and the limits.
. "${0%/*}/lib.sh"

# ends STATUS NAME: the last run's status; a script's own messages have no form
ends() {
    if [ "$status" -eq "$1" ]; then ok "$2"; else not_ok "$2" "status $status, expected $1; $(head -5 err)"; fi
}

cat >args.py <<'E2'
import sys
print(sys.argv, __name__, __file__)
E2
run run args.py -x --help -- a
ends 0 "a script's options are its own"
prints "['args.py', '-x', '--help', '--', 'a'] __main__ args.py"
run run --isolated -- args.py
ends 0 "options before the script are fxscope's"
prints "['args.py'] __main__ args.py"

mkdir sub more
echo 'word = "beside"' >sub/helper.py
echo 'word = "more"' >more/other.py
echo 'import helper, other; print(helper.word, other.word)' >sub/imports.py
run run --path more sub/imports.py
ends 0 "imports find the script's folder and --path"
prints "beside more"
if [ -e sub/__pycache__ ]; then not_ok "no compiled files are left"; else ok "no compiled files are left"; fi

printf 'import sys\nsys.exit(7)\n' >seven.py
run run seven.py
ends 7 "the exit status is the script's"
printf 'import sys\nsys.exit("that is all")\n' >text.py
run run text.py
ends 1 "an exit with a text is 1"
says "that is all"
run run nowhere.py
ends 1 "a script that is not there"
says "No such file"
run run
judge 2 "no script is a mistake of usage"

printf 'def f(:\n' >syntax.py
run run syntax.py
ends 1 "a script that is no Python"
says 'File "syntax.py", line 1'
cat >fails.py <<'E2'
import torch
def inner(x):
    return x.view(5, 7)
inner(torch.ones(3))
E2
run run fails.py
ends 1 "an exception"
says 'File "fails.py", line 3, in inner'
says "RuntimeError: shape '[5, 7]' is invalid for input of size 3"

cat >program.py <<'E2'
import os
os.system("echo it ran")
E2
run run program.py
ends 0 "a script may start programs"
prints "it ran"
run run --guard program.py
ends 1 "but not with --guard"
prints_nothing
says 'File "program.py", line 2'
says "a model file may not start programs"
run run --guard --allow exec program.py
ends 0 "unless --allow says so"
prints "it ran"
for case in "import subprocess; subprocess.run(['true'])" "import os; os.fork()" "import os; os.execv('/bin/true', ['true'])" \
    "import socket; socket.socket()" "import http.client; http.client.HTTPConnection('localhost').connect()" \
    "open('made', 'w')" "import os; os.open('made', os.O_CREAT | os.O_WRONLY)" "import os; os.mkdir('made')" \
    "import os; os.remove('args.py')" "import pathlib; pathlib.Path('made').write_text('x')" \
    "import ctypes; ctypes.CDLL('libm.so.6')" "import shutil; shutil.rmtree('sub')" "import tempfile; tempfile.mkdtemp(dir='.')"; do
    echo "$case" >guarded.py
    run run --guard guarded.py
    if [ "$status" -eq 1 ] && grep -q 'PermissionError: a model file may not' err && [ ! -e made ] && [ -e args.py ]; then
        ok "refused: $case"
    else
        not_ok "refused: $case" "status $status: $(tail -3 err)"
    fi
done
echo "open('/dev/null', 'w').write('x'); print(open('args.py').read()[:6]); import ctypes" >reads.py
run run --guard reads.py
ends 0 "reading is allowed"
prints "import"
expect 2 run --allow everything args.py

printf 'while True:\n    try:\n        x = 1\n    except Exception:\n        pass\n' >loop.py
run run --timeout 1 loop.py
ends 1 "a loop without end is ended"
says "the time limit was reached"
says 'File "loop.py", line'
printf 'import torch\nx = torch.ones(1 << 28).add(1)\n' >large.py
run run --max-memory 300 large.py
ends 1 "more memory than allowed"
says "out of memory"
says 'File "large.py", line 2'
run run --max-memory 300 args.py
ends 0 "little memory is enough for a small script"
PYTHONPATH=more PYTHONSTARTUP=fails.py run run args.py
ends 0 "Python's environment variables mean nothing"

# ---- torchvision's own source is read file by file ----

mkdir -p torchvision/models/parts
cat >torchvision/models/__init__.py <<'END'
from .alpha import *
from .beta import *
from .gamma import *
from . import parts
from ._api import get_model, list_models
END
cat >torchvision/models/_api.py <<'END'
BUILTIN_MODELS = {}
def register(f):
    if f.__name__ in BUILTIN_MODELS:
        raise ValueError(f.__name__)
    BUILTIN_MODELS[f.__name__] = f
    return f
def get_model(name):
    return BUILTIN_MODELS[name]()
def list_models():
    return sorted(BUILTIN_MODELS.keys())
END
for name in alpha beta gamma parts/__init__; do
    short=${name%%/*}
    cat >torchvision/models/$name.py <<END
print('read $short')
from torchvision.models._api import register
__all__ = ['$short', 'the_$short']
@register
def $short():
    return '$short made'
the_$short = 1
END
done
echo '__all__ = __all__ + ["late"]; late = 2' >>torchvision/models/gamma.py
cat >one.py <<'END'
import torchvision
from torchvision import models
print(models.beta(), models.the_beta, hasattr(models, 'delta'))
END
expect 0 run one.py
prints "beta made 1 False"
if grep -q 'read alpha\|read parts' out; then not_ok "other files are not read" "$(cat out)"; else ok "other files are not read"; fi
cat >whole.py <<'END'
import torchvision.models.beta as beta
import torchvision.models as models
from torchvision.models._api import list_models, get_model
from torchvision.models import late
print(beta(), callable(models.alpha), callable(models.beta), models.parts.the_parts, late, get_model('alpha'))
print(list_models(), models.list_models is list_models)
END
expect 0 run whole.py
prints "beta made True True 1 2 alpha made"
prints "['alpha', 'beta', 'gamma', 'parts'] True"
for look in 'models.__dict__' 'vars(models)' 'dir(models)'; do
    printf 'import torchvision.models as models\nprint(sorted(n for n in %s if n in ("alpha", "the_beta", "late", "parts", "get_model")))\n' "$look" >look.py
    expect 0 run look.py
    prints "['alpha', 'get_model', 'late', 'parts', 'the_beta']"
done
printf 'from torchvision.models import *\nprint(the_alpha, late, parts.the_parts, get_model("beta"))\n' >star.py
expect 0 run star.py
prints "1 2 1 beta made"
echo 'made_here = 7' >>torchvision/models/__init__.py
printf 'from torchvision.models import made_here, alpha\nprint(made_here, alpha())\n' >odd.py
expect 0 run odd.py
prints "7 alpha made"
prints "read parts"
rm -r torchvision
run run nowhere.py
ends 1 "a script that is not there"
says "fxscope: nowhere.py: No such file or directory"
mkdir gone
printf 'print(1)\n' >here.py
(cd gone && rmdir ../gone && "$fxscope" run "$work/here.py" >"$work/out" 2>"$work/err") && status=0 || status=$?
ends 1 "a working folder that is gone"
says "fxscope: the working folder: No such file or directory"
if [ "$(grep -c . err)" = 1 ]; then ok "one line"; else not_ok "one line" "$(cat err)"; fi
finish
