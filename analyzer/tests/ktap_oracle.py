#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints what the kernel's own KTAP parser makes of files, in the form of test_ktap.c's dump().

usage: ktap_oracle.py KERNEL_TREE FILE...
"""
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + '/tools/testing/kunit')
import kunit_parser  # noqa: E402
from kunit_printer import null_printer  # noqa: E402

WORDS = {'SUCCESS': 'passed', 'FAILURE': 'failed', 'SKIPPED': 'skipped', 'TEST_CRASHED': 'crashed',
         'NO_TESTS': 'no tests'}


def is_missing(test):
    """A test that the parser made up because the plan wanted one more: it is in no count."""
    return test.counts.total() == 0 and test.counts.errors == 0 and test.name == '' and \
        test.status.name == 'TEST_CRASHED'


def dump(test, depth):
    c = test.counts
    missing = sum(is_missing(t) for t in test.subtests)
    line = '%s%s "%s" %d/%d/%d/%d %d' % ('  ' * depth, WORDS[test.status.name], test.name, c.passed,
                                         c.failed, c.skipped, c.crashed, c.errors)
    if missing:
        line += ' missing %d' % missing
    if test.skip_reason:
        line += ' (%s)' % test.skip_reason
    print(line)
    for t in test.subtests:
        if not is_missing(t):
            dump(t, depth + 1)


for path in sys.argv[2:]:
    print('== ' + path)
    with open(path, errors='backslashreplace') as f:
        run = kunit_parser.parse_run_tests(f, null_printer)
    if run.status.name == 'FAILURE_TO_PARSE_TESTS':
        print('no KTAP')
    else:
        dump(run, 0)
