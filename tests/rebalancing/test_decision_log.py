"""Files of decisions gone wrong are refused with their line, and never crash."""

import json

import numpy as np
import pytest

from evener.errors import InputError
from evener.rebalancing.decision_log import read_decisions, replay
from evener.rebalancing.row_rebalancer import RowRebalancer
from evener.reporting.decisions import course_of, move_rows, verdict_of

ODD = (None, 0, 1, -1, 1e308, 1e-320, float("nan"), float("inf"), 10**400, "x", [], {}, [[1]],
       True, [1, 2], [None] * 2, ["a"] * 2, 1.5, 2**63, [[1e308] * 2] * 2)  # fmt: skip


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A file of two ranks, one of which becomes slower, by lines."""
    path = tmp_path_factory.mktemp("log") / "d.jsonl"
    rows = RowRebalancer([60, 60], log=path)
    for i in range(14):
        if rows.observe(rows.sizes * np.array([1e-3, 3e-3 if i > 4 else 1e-3])) is not None:
            rows.moved(1e-3)
    rows.close()
    assert rows.moves
    return path.read_text().splitlines()


def places(value, way=()):
    """Ways to everything within a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield (*way, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*way, key))


def with_something_odd(rng, line):
    value = json.loads(line)
    ways = list(places(value))
    *way, last = ways[rng.integers(len(ways))]
    inner = value
    for key in way:
        inner = inner[key]
    if isinstance(inner, dict) and rng.random() < 0.15:
        del inner[last]
    else:
        inner[last] = ODD[rng.integers(len(ODD))]
    return json.dumps(value)


def accident(rng, lines):
    told = [*lines]
    i = int(rng.integers(len(told))) if rng.random() < 0.7 else 0
    what = rng.integers(8)
    if what < 5:
        told[i] = with_something_odd(rng, told[i])
    elif what == 5:
        told.insert(i, told[rng.integers(len(told))])
    content = bytearray(("\n".join(told) + "\n").encode())
    if what == 6:
        del content[rng.integers(len(content)) :]
    elif what == 7:
        content[rng.integers(len(content))] = int(rng.integers(256))
    return bytes(content)


@pytest.mark.parametrize("seed", range(4))
def test_accidents_are_refused_or_replayed(lines, tmp_path, seed):
    rng, path = np.random.default_rng(seed), tmp_path / "d.jsonl"
    refused = 0
    for _ in range(120):
        path.write_bytes(accident(rng, lines))
        try:
            told = read_decisions(path)
            replay(told)
            assert verdict_of(told, course_of(told))
            move_rows(told)
        except InputError as error:
            refused += 1
            assert error.file == str(path)
    assert refused > 40


def test_where_it_cannot_be_decided_again_the_line_is_named(lines, tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text("\n".join([lines[0], '{"took": 0.5}', *lines[1:]]) + "\n")
    with pytest.raises(InputError, match="called without a move") as caught:
        replay(read_decisions(path))
    assert caught.value.where == f"{path}:2"


def test_an_iteration_beyond_every_float_is_refused(lines, tmp_path):
    path, number = (
        tmp_path / "d.jsonl",
        next(i for i, one in enumerate(lines) if '"decided"' in one),
    )
    far = json.dumps({**json.loads(lines[number]), "iteration": 10**400})
    path.write_text("\n".join([*lines[:number], far]) + "\n")
    with pytest.raises(InputError) as caught:
        read_decisions(path)
    assert caught.value.where == f"{path}:{number + 1}"


def test_times_that_no_iteration_takes_are_none_told():
    rows = RowRebalancer([60, 60])
    rows.observe([1e-3, 1e-3])
    rows.observe([1e-3, 1e200])
    assert rows.last.silent.tolist() == [0, 1]
    with pytest.raises(InputError, match="numbers"):
        rows.observe([1e-3, 10**400])
