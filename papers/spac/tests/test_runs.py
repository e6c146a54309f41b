"""Rows of [SPAC]_'s experiments: every method with the same limits, seconds without a start."""

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.splitting.methods import split_with
from papers.spac import runs as spac_runs
from papers.spac.runs import (
    FILE_ORDER,
    HYPERGRAPH,
    IN_ORDER,
    METHODS,
    RANDOM,
    WVP_GREEDY,
    degrees_of,
    divided,
    gained,
    greedy_in_order,
    starting_seconds,
    usable,
)
from papers.spac.setup import PaperMatrix, contract_of, epidemic
from tests.plans.test_edge_partition import slow_copies

MATRIX = PaperMatrix("mc2depi", "epidemiology", lambda: epidemic(9, 15))
IN_PROCESS = (FILE_ORDER, RANDOM, IN_ORDER)


def test_a_row_for_each_method_and_run_within_the_limits(monkeypatch):
    monkeypatch.setattr(spac_runs, "blocks_of", lambda *_, **__: 4)
    rows = divided(MATRIX, IN_PROCESS, 2, {})
    assert [(row["method"], row["run"]) for row in rows] == [
        (name, run) for run in (0, 1) for name in IN_PROCESS
    ]
    for row in rows:
        assert 0.97 * 0.97 <= row["smallest"] <= 1 <= row["largest"] <= 1.03 * 1.03
        assert row["copies"] == round((row["replication"] - 1) * row["vertices"])


def test_figures_are_those_of_the_blocks(monkeypatch):
    monkeypatch.setattr(spac_runs, "blocks_of", lambda *_, **__: 3)
    edges = MATRIX.edges
    (row,) = divided(MATRIX, (FILE_ORDER,), 1, {})
    part = split_with("order", edges, contract_of(edges, 3)).partition.part
    assert row["copies"] == slow_copies(edges, part)
    at = [set(part[(edges.tails == v) | (edges.heads == v)].tolist()) for v in range(edges.n)]
    copied = [edges.degrees[v] for v in range(edges.n) if len(at[v]) > 1]
    assert row["copied_degree"] == pytest.approx(np.mean(copied), abs=0.01)


def test_greedy_in_order_takes_edges_as_they_stand():
    """Two paths one after the other: each is a block; the second starts in the emptier one."""
    edges = EdgeList(6, [0, 1, 3, 4], [1, 2, 4, 5])
    found = greedy_in_order(edges, contract_of(edges, 2), "default", 1).partition
    assert isinstance(found, EdgePartition)
    assert found.part.tolist() == [0, 0, 1, 1]


def test_hypergraphs_are_left_out_where_their_tool_is_absent(monkeypatch):
    monkeypatch.setattr(spac_runs, "without_hypergraph", lambda: "not installed")
    assert usable(list(METHODS)) == [name for name in METHODS if name != HYPERGRAPH]
    monkeypatch.setattr(spac_runs, "without_hypergraph", lambda: None)
    assert usable(list(METHODS)) == list(METHODS)


def test_the_start_of_other_processes_is_not_counted(monkeypatch):
    """Median of runs after the first; of a method that starts no process nothing is subtracted."""
    own, others = iter([0, 9] * 5), iter([0, 9, 10, 11, 20, 23, 30, 32, 50, 51])
    monkeypatch.setattr(
        spac_runs.os, "times", lambda: (next(own), 0.0, next(others), 0.0, 0.0), raising=True
    )
    starting = starting_seconds((FILE_ORDER,))
    assert starting == {FILE_ORDER: 2}
    monkeypatch.setattr(spac_runs, "blocks_of", lambda *_, **__: 3)
    (row,) = divided(MATRIX, (FILE_ORDER,), 1, starting)
    assert row["cpu_s"] == 9


def test_a_graph_of_figure_7_has_a_row_for_each_number_of_blocks(monkeypatch):
    monkeypatch.setattr(spac_runs, "METHODS", dict.fromkeys(METHODS, METHODS[RANDOM]))
    monkeypatch.setattr(spac_runs, "METHODS", spac_runs.METHODS | {WVP_GREEDY: METHODS[IN_ORDER]})
    block, fixed = gained("uniform", 500, 8, (5,))
    assert (block["fixed"], block["k"], fixed["fixed"], fixed["k"]) == (0, 2, 5, 5)
    assert fixed["gain"] == pytest.approx(fixed["wvp"] / fixed["ring"], abs=1e-4)
    assert fixed["wvp"] < fixed["ring"]


def test_degrees_are_counted():
    row = degrees_of(MATRIX)
    assert (row["largest_degree"], row["median_degree"]) == (4, 4)
    assert row["entries_of_row"] == pytest.approx(MATRIX.edges.m / 135, abs=0.01)
