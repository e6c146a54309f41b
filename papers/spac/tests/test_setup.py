"""Stand-ins of [SPAC]_'s matrices: sizes and degrees; files are taken in their place."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from papers.spac.setup import (
    BLOCK,
    EPSILON,
    FEWER,
    NET_BLOCKS,
    PAPER,
    RAIL_SHARE,
    MatrixSizes,
    blocks_of,
    cantilever,
    circuit,
    contract_of,
    epidemic,
    matrices,
    synthesized,
    web,
)

TINY = MatrixSizes(3, (5, 7), 300, 200, 200)


def entries(reading):
    """Pairs (row, column) of the file's numbers."""
    return list(zip(*(ends.tolist() for ends in reading.ends), strict=True))


def test_the_cantilever_has_the_sizes_of_cant():
    """Of 257 nodes along it: 62,451 rows, and 2,194,038 entries where cant has 2,034,917."""
    made = cantilever(4)
    assert made.rows == 3 * 81 * 4
    neighbours = 25 * 25 * (3 * 4 - 2)  # pairs of nodes, both ways and alone
    assert made.edges.m == (9 * neighbours + made.rows) // 2
    assert all(column <= row for row, column in entries(made))


def test_the_epidemic_goes_from_each_state_to_its_neighbours():
    """Of 513 x 1025 states: 1,051,650 vertices and 2,100,224 entries; mc2depi has one more."""
    made = epidemic(5, 7)
    assert (made.edges.n, made.edges.m) == (2 * 35, 2 * (4 * 7 + 5 * 6))
    for row, column in entries(made):
        assert abs(row // 5 - column // 5) + abs(row % 5 - column % 5) == 1


def test_a_circuit_is_symmetric_and_its_rails_are_joined_to_many():
    made = circuit(2000, links=6.0, power=1.0, run=8, rails=2)
    found = entries(made)
    assert set(found) == {(v, u) for u, v in found}
    assert {(v, v) for v in range(2000)} <= set(found)
    degrees = np.sort(made.edges.degrees[: made.rows])
    assert degrees[-2:] == pytest.approx(RAIL_SHARE * 2000, rel=0.1)
    assert degrees[-3] < 0.05 * 2000


def test_pages_link_within_their_site_mostly_and_not_to_themselves():
    made = web(1500)
    assert all(u != v for u, v in entries(made))
    assert web(1500).edges.heads.tolist() == made.edges.heads.tolist()
    degrees = made.edges.degrees
    assert degrees[made.rows :].max() > 5 * np.median(degrees[made.rows :])


@pytest.mark.parametrize("kind", ["uniform", "power law"])
def test_graphs_of_figure_7_have_the_degree_asked_for(kind):
    edges = synthesized(kind, 3000, 8)
    assert 2 * edges.m / edges.n == pytest.approx(8, rel=0.02)
    assert (edges.degrees.max() > 60) == (kind == "power law")


def test_blocks_are_of_10240_entries_and_within_the_tolerance():
    edges = synthesized("uniform", 3000, 16)
    assert blocks_of(edges) == -(-edges.m // 10_240) == 3
    contract = contract_of(edges, 3)
    assert contract.high.max() <= (1 + EPSILON) * edges.m / 3
    assert contract.low.min() >= (1 - EPSILON) * edges.m / 3


def test_files_are_taken_in_the_place_of_stand_ins(tmp_path):
    (tmp_path / "scircuit.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n1 2 1\n2 3 1\n3 1 1\n"
    )
    found = matrices(TINY, tmp_path)
    assert [one.name for one in found] == list(PAPER)
    assert [one.is_real for one in found] == [False] * 4 + [True]
    assert (found[-1].edges.m, found[-1].reading.rows) == (4, 3)
    assert all(one.edges.m > 100 for one in found[:-1])


def test_a_folder_without_any_of_them_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none of cant\.mtx, circuit5M\.mtx"):
        matrices(TINY, tmp_path)


def test_a_net_spreads_over_as_many_blocks_as_in_the_paper_if_these_are_large_enough():
    """59.5 million entries in blocks of 10,240 are 5,813; else blocks have 340 at least."""

    def edges(m):
        return EdgeList(m + 1, np.zeros(m, int), np.arange(1, m + 1))

    assert -(-59_524_291 // BLOCK) == NET_BLOCKS
    assert blocks_of(edges(205_758)) == 21
    assert blocks_of(edges(205_758), nets=True) == 605
    assert blocks_of(edges(2_100_000), nets=True) == NET_BLOCKS
    assert [one.name for one in matrices(FEWER) if one.nets] == ["circuit5M"]
