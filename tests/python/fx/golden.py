"""Runs one of the scripts g_*.py, whose functions compare themselves; see gold.py.

usage: fxscope run golden.py SCRIPT [--record]
"""
import runpy
import sys

import gold

runpy.run_path(sys.argv[1], run_name='__main__')
print(f'1..{gold.count}', file=gold.stdout)
sys.exit(1 if gold.failures else 0)
