"""Builders and slow, obvious references that several tests share."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from hypothesis import strategies as st

from evener.graphs.graph import Graph
from evener.plans.partition import Partition


def path(n, **more):
    """The path 0 - 1 - ... - (n - 1)."""
    return Graph.from_edges(n, np.arange(n - 1), np.arange(1, n), **more)


def grid(rows, columns, **more):
    """The rows x columns grid with coordinates, numbered row by row."""
    number = np.arange(rows * columns).reshape(rows, columns)
    u = np.r_[number[:, :-1].ravel(), number[:-1].ravel()]
    v = np.r_[number[:, 1:].ravel(), number[1:].ravel()]
    y, x = np.divmod(np.arange(rows * columns), columns)
    fields = {"coords": np.column_stack([x, y]).astype(float)} | more
    return Graph.from_edges(rows * columns, u, v, **fields)


@st.composite
def random_graphs(draw, max_n=12, weighted=True):
    """Small graphs of any density, with or without weights, isolated vertices included."""
    n = draw(st.integers(1, max_n))
    ends = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=3 * n))
    weights, vwgt = None, None
    if weighted:
        numbers = draw(st.sampled_from([st.integers(0, 9), st.floats(0, 9, width=32)]))
        if draw(st.booleans()):
            weights = [draw(numbers) for _ in pairs]
        if draw(st.booleans()):
            vwgt = [draw(numbers) for _ in range(n)]
    u, v = [a for a, _ in pairs], [b for _, b in pairs]
    return Graph.from_edges(n, u, v, weights=weights, vwgt=vwgt)


def random_partitions(graph, max_k=5):
    """Partitions of `graph` in which any block may be empty."""
    return st.integers(1, max_k).flatmap(
        lambda k: st.lists(st.integers(0, k - 1), min_size=graph.n, max_size=graph.n).map(
            lambda part: Partition(np.array(part), k)
        )
    )


def run_python(*words, cwd=None, timeout=120, **environment):
    """Run Python in a process of its own; returns it completed, with text output."""
    return subprocess.run(
        [sys.executable, *[str(word) for word in words]],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=timeout,
        check=False,
        env=os.environ | {"COLUMNS": "120"} | environment,
    )


def run_evener(*words, **more):
    """Run `evener` in a process of its own; returns it completed, with text output."""
    return run_python("-m", "evener", *words, **more)


def printed_by(code, *words, **more):
    """Return what Python code prints in a process of its own, which must end well."""
    done = run_python("-c", code, *words, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout
