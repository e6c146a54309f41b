"""Numbers of [LDHT]_ as printed: whole, and as the paper's text says of them."""

from evener.platforms.examples import TABLE_III
from papers.ldht import setup


def test_table_iv_is_whole():
    tools = ["geoKM", "geoRef", "geoPMRef", "pmGraph", "pmGeom", "zSFC", "zRCB", "zRIB"]
    assert list(setup.CUTS) == list(setup.VOLUMES)
    for table in (setup.CUTS, setup.VOLUMES):
        for graph in table.values():
            assert list(graph) == tools
            assert all(len(values) == len(setup.MACHINES_IV) for values in graph.values())
    for graph, cuts in setup.CUTS.items():
        # A block's volume is no more than the cut, and refinement starts from k-means' blocks.
        assert all(setup.VOLUMES[graph][tool][i] < cuts[tool][i] for tool in tools
                   for i in range(4))  # fmt: skip
        assert all(cuts["geoKM"][i] > cuts["geoRef"][i] > cuts["geoPMRef"][i] for i in range(4))


def test_table_iii_has_a_memory_and_two_ratios_for_each_speed():
    assert tuple(TABLE_III) == setup.SPEEDS == tuple(setup.PRINTED_RATIOS)
    ratios = [tuple(map(float, pair)) for pair in setup.PRINTED_RATIOS.values()]
    assert ratios == sorted(ratios)
    assert all(few <= many for few, many in ratios)  # of k / 12 and of k / 6 fast devices
