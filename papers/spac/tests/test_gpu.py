"""Transactions of [SPAC]_'s kernels by the model: staged loads are copies; verdicts can fail."""

import pytest

from evener.splitting.methods import split_with
from papers.spac import gpu as spac_gpu
from papers.spac.setup import PAPER, PaperMatrix, circuit

MATRIX = PaperMatrix("scircuit", "circuit", lambda: circuit(900, links=5.0, power=1.0, run=4))


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Runs of edges in the place of METIS's blocks: no other process is started."""

    def quick(method, edges, contract, **more):
        assert method == "spac-ring"
        return split_with("order", edges, contract, **more)

    monkeypatch.setattr(spac_gpu, "split_with", quick)


def test_a_product_has_a_row_for_each_block_size():
    rows = spac_gpu.products(MATRIX, (64, 128))
    assert [row["threads"] for row in rows] == [64, 128]
    assert rows[0]["k"] == -(-MATRIX.edges.m // 640)
    for row in rows:
        assert 0 < row["staged_x"] < row["staged"]
        assert 0 < row["plain_x"] < row["plain"]
        assert row["shared_bytes"] > 0
        assert 0 <= row["occupancy"] <= 1


def test_a_flux_has_a_row_for_each_order_and_block_size():
    rows = spac_gpu.fluxes(60, (32, 64))
    assert [(row["order"], row["threads"]) for row in rows] == [
        ("curve", 32), ("curve", 64), ("shuffled", 32), ("shuffled", 64),
    ]  # fmt: skip
    assert len({row["interactions"] for row in rows}) == 1
    assert rows[2]["original_reads"] > rows[0]["original_reads"]


def met(finding):
    return [criterion.met for criterion in finding.criteria]


def products(staged, texture=(10, 10)):
    return [
        {"matrix": name, "threads": threads, "plain": 100, "staged": staged[name], "staged_x": 10,
         "texture_x": texture[i]}
        for name in PAPER for i, threads in enumerate((512, 1024))
    ]  # fmt: skip


def test_verdicts_on_transactions_can_fail():
    follows = dict.fromkeys(PAPER, 50) | {"cant": 110, "mc2depi": 90}
    assert met(spac_gpu.transactions_follow_time(products(follows))) == [True] * 3
    alike = dict.fromkeys(PAPER, 50) | {"scircuit": 120}
    assert met(spac_gpu.transactions_follow_time(products(alike))) == [False] * 3


def test_verdicts_on_caches_and_block_sizes_can_fail():
    rows = products(dict.fromkeys(PAPER, 50), texture=(10, 9))
    assert met(spac_gpu.shared_or_texture(rows)) == [False]
    rows = products(dict.fromkeys(PAPER, 50), texture=(10, 11))
    assert met(spac_gpu.shared_or_texture(rows)) == [True]
    assert met(spac_gpu.block_sizes(rows)) == [True] * len(PAPER)
    rows[0]["staged"] = 54
    assert met(spac_gpu.block_sizes(rows)) == [False] + [True] * (len(PAPER) - 1)


def test_verdicts_on_the_flux_can_fail():
    rows = [{"order": order, "threads": 64, "original_reads": 10, "spac_reads": reads}
            for order, reads in (("curve", 10), ("shuffled", 9))]  # fmt: skip
    assert met(spac_gpu.flux_reads(rows)) == [False, True]


def test_what_needs_a_gpu_is_not_tried_and_says_so():
    for found in (spac_gpu.seconds_of_programs(), spac_gpu.seconds_of_products()):
        assert found.verdict == "not tried"
        assert "GPU" in found.lacking
