"""Zoltan's RCB, RIB and HSFC; skipped where libzoltan is not installed."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from papers.ldht import zoltan
from papers.ldht.tools import enter_tools
from tests.assertions import grid

enter_tools()
needs_library = pytest.mark.skipif(
    zoltan.missing() is not None, reason=f"libzoltan is not installed: {zoltan.HOW}"
)


@needs_library
@pytest.mark.parametrize(("tool", "d"), list(zip(zoltan.METHODS, (2, 3, 2), strict=True)))
def test_blocks_follow_unequal_targets(tool, d):
    graph = delaunay(3000, 3, d)
    targets = np.r_[np.ones(9), 7.0, 2.5]
    found = partition_with(tool, graph, Request(targets))
    ideal = targets / targets.sum() * graph.n
    assert np.abs(np.bincount(found.part, minlength=11) - ideal).max() < 3
    assert found.version.startswith("zoltan 3")
    assert "only coordinates" in found.notes[-1]
    heavy = graph.with_(vwgt=0.5 + np.arange(graph.n) % 4)
    weight = np.bincount(partition_with(tool, heavy, Request(targets)).part, heavy.vwgt, 11)
    assert weight / weight.sum() == pytest.approx(targets / targets.sum(), rel=0.05)


@needs_library
def test_bisection_halves_the_longer_side():
    wide = grid(4, 16)
    part = partition_with("zoltan-rcb", wide, Request(np.ones(2))).part
    side = wide.coords[:, np.argmax(np.ptp(wide.coords, axis=0))] > 7.5
    assert (part == side).all() or (part != side).all()


def test_without_the_library(monkeypatch):
    monkeypatch.setattr(zoltan, "is_loadable", lambda: False)
    with pytest.raises(UsageError, match="zoltan-rcb is not installed: apt install"):
        partition_with("zoltan-rcb", grid(6, 6), Request(np.ones(2)))
