"""The page of `evener compare --edges`: every number is a method's; what failed is named."""

from evener.graphs.generating.random_graphs import barabasi_albert
from evener.io.accept import as_platform
from evener.io.edges import as_edges
from evener.planning.compare import EdgeComparison, compare_edges
from evener.reporting.edge_report import edges_compared, write_edge_comparison

READING = as_edges(barabasi_albert(200, 2, 1))
PLATFORM = as_platform([1, 2, 4])
FAILED = EdgeComparison("mtkahypar", note="is not installed <b>")


def test_a_page_of_methods(tmp_path):
    results = compare_edges(READING, PLATFORM, ["order", "hdrf", "ne"])
    path = tmp_path / "x.html"
    options = {"seed": 7, "reading": {"as": "graph"}}
    write_edge_comparison(path, [*results, FAILED], READING, PLATFORM, options=options)
    page = path.read_text()
    copies = {one.method: one.plan.metrics.copies for one in results}
    best = min(copies, key=copies.get)
    assert f"3 of 4 methods end within the contract; {best} makes fewest copies" in page
    assert f"200 vertices, {READING.edges.m} edges, 3 devices" in page
    for one in results:
        relative = one.plan.relative_loads
        assert f"{one.plan.metrics.replication:.3f}" in page
        assert f"{relative.min():.3f} to {relative.max():.3f}" in page
    assert "is not installed &lt;b&gt;" in page
    assert "family" not in page
    again = tmp_path / "again.html"
    write_edge_comparison(again, [*results, FAILED], READING, PLATFORM, options=options)
    assert again.read_text() == page


def test_methods_are_in_the_order_of_their_copies():
    results = compare_edges(READING, PLATFORM, ["order", "random", "ne"])
    view = edges_compared([FAILED, *results])
    copies = [tool.figures[0].value for tool in view.tools]
    assert copies[-1] is None
    assert copies[:-1] == sorted(one.plan.metrics.copies for one in results)
    assert [len(chart) for chart in view.charts] == [3] * 4


def test_where_no_method_divided_the_edges_the_page_says_so():
    assert edges_compared([FAILED]).verdict == "No method made blocks."
