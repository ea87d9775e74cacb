"""TAP for tests that are run by `fxscope run`: a function whose name begins with test_ is a test."""
import sys
import traceback


class Skip(Exception):
    """Why a test can't be run here."""


def main(names):
    tests = [(n, f) for n, f in names.items() if n.startswith('test_')]
    failures = 0
    for count, (name, function) in enumerate(tests, 1):
        try:
            function()
            print(f"ok {count} - {name[5:].replace('_', ' ')}")
        except Skip as reason:
            print(f"ok {count} - {name[5:].replace('_', ' ')} # SKIP {reason}")
        except Exception:
            failures += 1
            print(f"not ok {count} - {name[5:].replace('_', ' ')}")
            for line in traceback.format_exc().split('\n'):
                print(f'# {line}')
    print(f'1..{len(tests)}')
    sys.exit(1 if failures else 0)


def raises(kind, function, *args, text='', **kwargs):
    """The exception that the call raises; text must be part of its message."""
    try:
        function(*args, **kwargs)
    except kind as error:
        assert text in str(error), f'{error!s} does not hold {text!r}'
        return error
    raise AssertionError(f'{kind.__name__} was not raised')
