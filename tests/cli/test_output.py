"""--verbose tells every step on stderr, with its time; the output is what it is without."""

import logging
import re

from evener.cli.output import LOG


def test_steps_are_told_with_their_times(evener, place):
    quiet = evener("plan", "g.graph", "--k", 3, "-o", "a.plan", "--with", "metis")
    said = evener("plan", "g.graph", "--k", 3, "-o", "a.plan", "--with", "metis", "--verbose")
    assert said.out == quiet.out
    steps = [line for line in said.err.splitlines() if re.match(r" *\d+\.\d{3} s  ", line)]
    for told in ("Reading g.graph", "Planning: partitioning", "metis ended", "wrote "):
        assert any(told in step for step in steps), told
    times = [float(step.split()[0]) for step in steps]
    assert times == sorted(times)


def test_json_stays_json_and_nothing_is_told_afterwards(evener, place):
    said = evener("info", "g.graph", "--json", "--verbose")
    assert said.out == evener("info", "g.graph", "--json").out
    assert "Reading" in said.err
    assert {type(handler) for handler in LOG.handlers} <= {logging.NullHandler}
    assert LOG.level == logging.NOTSET
    assert " s  Reading" not in evener("info", "g.graph").err
