"""The record is whole: every output of PyTorch 1.13 is compared by a function, few not byte for byte.
Prints TAP."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

import gold
from tap import main


def texts(folder):
    return {name[:-4] for name in os.listdir(f'{gold.HERE}/{folder}')}


def test_every_output_has_a_function_that_compares_it():
    compared = set()
    for script in sorted(os.listdir(gold.HERE)):
        if script.startswith('g_'):
            with open(f'{gold.HERE}/{script}', encoding='utf-8') as file:
                compared |= set(re.findall(r'^@G\ndef (\w+)\(', file.read(), re.M))
    expected = texts('expected')
    assert compared - gold.unstable == expected, compared ^ expected
    assert len(expected) == 148


def test_what_differs_is_told_and_is_at_most_eight():
    assert set(gold.differs) == texts('ours') and len(gold.differs) <= 8
    assert all(len(why) > 20 for why in gold.differs.values())


main(globals())
