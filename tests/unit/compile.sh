#!/bin/sh
# compile.sh UNIT: every code and file that the library writes is Python: python3 compiles it. Needs no PyTorch.
command -v python3 >/dev/null || {
    echo "skipped: no python3 is installed, which alone can say whether a file is Python"
    exit 77
}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$1" test_python "$dir" || exit 1
python3 - "$dir" <<'END'
import pathlib
import sys
import warnings

warnings.simplefilter("ignore")  # "3[0] is not subscriptable" and its like
failed = 0
files = sorted(pathlib.Path(sys.argv[1]).iterdir())
for path in files:
    try:
        compile(path.read_text(), path.name, "exec")
    except SyntaxError as e:
        failed += 1
        print(f"{path.name}:{e.lineno}: {e.msg}: {e.text}")
print(f"{len(files)} texts, {failed} do not compile")
sys.exit(failed > 0 or len(files) < 700)
END
