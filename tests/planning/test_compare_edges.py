"""Methods of dividing edges side by side: same limits, judged alike, failures told."""

import pytest

from evener.errors import InfeasibleError, UsageError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.planning.compare import compare_edges
from evener.planning.split import split
from evener.splitting import methods

EDGES = EdgeList.of_graph(grid((9, 9)))


def test_every_method_gets_the_same_contract(monkeypatch):
    def fails(*_):
        raise InfeasibleError("too little of it")

    monkeypatch.setitem(methods.METHODS, "failing", fails)
    found = compare_edges(EDGES, [1, 2], ["spac", "failing", "order"], epsilon=0.1, preset="fast")
    spac, failing, order = found
    assert (failing.plan, failing.note) == (None, "too little of it")
    for one in (spac, order):
        assert one.plan.holds.all()
        assert one.plan.contract.high.tolist() == spac.plan.contract.high.tolist()
        assert one.cpu_seconds >= 0
    made = split(EDGES, [1, 2], epsilon=0.1, preset="fast")
    assert made.partition.part.tolist() == spac.plan.partition.part.tolist()
    assert "spac" in repr(spac)


def test_one_name_alone_and_unknown_ones():
    assert [one.method for one in compare_edges(EDGES, 2, "order")] == ["order"]
    with pytest.raises(UsageError, match="method"):
        compare_edges(EDGES, 2, ["none"])
