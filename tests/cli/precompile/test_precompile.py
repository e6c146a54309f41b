"""Compiling ahead, in this process and in several."""

import numpy as np
import pytest

from evener.cli.precompile import precompile as module
from evener.cli.precompile.precompile import warm
from evener.errors import ToolError


def piece():
    """Call one kernel."""
    from evener.graphs.graph import Graph

    Graph.from_edges(3, np.array([0, 1]), np.array([1, 2])).components()


def test_what_is_compiled_already_is_left(monkeypatch):
    monkeypatch.setattr(module, "REHEARSALS", {"a piece": piece, "another": piece})
    warm()
    told = []
    done = warm(progress=lambda step, fraction: told.append((step, fraction)))
    assert done.compiled == []
    assert done.n_kernels > 100
    assert done.processes == 1
    assert told == [
        ("a piece, 1 of 2 pieces, 0 kernels so far", 0.0),
        ("another, 2 of 2 pieces, 0 kernels so far", 0.5),
    ]
    assert done.folder.is_dir()


@pytest.mark.slow
def test_several_processes_share_the_pieces(monkeypatch):
    """The names are those that the processes know: pieces that exist."""
    monkeypatch.setattr(module, "REHEARSALS", {"files": piece, "building": piece})
    told = []
    warm(2, progress=lambda step, fraction: told.append((step, fraction)))
    done = warm(2, progress=lambda step, fraction: told.append((step, fraction)))
    assert done.compiled == []
    assert done.processes == 2
    assert sorted({step.split(",")[0] for step, _ in told}) == ["building", "files"]
    assert max(fraction for _, fraction in told) < 1


@pytest.mark.slow
def test_a_process_that_ends_early_is_told_of(monkeypatch):
    monkeypatch.setattr(module, "REHEARSALS", {"no such piece": piece, "none either": piece})
    with pytest.raises(ToolError, match="ended before it was done"):
        warm(2)
