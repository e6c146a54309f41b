"""What integrations are given of a plan, and what they refuse, without another program."""

from functools import partial
from hashlib import sha256

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError, UsageError
from evener.graphs.generating.grid import grid
from evener.integrations.blocks import RankBlocks, blocks_of, refuse_other_cut
from evener.integrations.ranks import local_blocks, shared_blocks
from tests.integrations.one_rank import OneRank
from tests.io import mesh_samples as samples


@pytest.fixture(scope="module")
def plan():
    return ev.plan(grid((5, 6)), [1.0])


def test_every_form_is_the_same_blocks(tmp_path, plan):
    part = plan.partition.part
    ev.write_plan(tmp_path / "x.plan", plan)
    ev.write_part(tmp_path / "rows.npz", part, "rows", devices=plan.platform.names)
    ev.write_part(tmp_path / "x.part", part, "metis")
    given = [plan, plan.partition, part, part.tolist(), tmp_path / "x.plan",
             str(tmp_path / "x.plan"), tmp_path / "rows.npz", tmp_path / "x.part"]  # fmt: skip
    for form in given:
        assert blocks_of(form, 30).part.dtype == np.int32
        assert np.array_equal(blocks_of(form, 30).part, part)
    assert [blocks_of(form, 30).k for form in given] == [1, 1, None, None, 1, 1, None, None]
    assert blocks_of(plan).cut == plan.evaluation.edge_cut


def test_what_is_no_plan(tmp_path):
    np.savez(tmp_path / "other.npz", x=[1])
    np.savez(tmp_path / "terms.npz", part=[0, 1], promise=np.array('{"contract": 7}'))
    (tmp_path / "x.part").write_text("0\n1\n")
    wrong = [
        (None, UsageError, "rank 0 got no plan"),
        (tmp_path / "other.npz", InputError, "other.npz: is an archive without `part`"),
        (tmp_path / "terms.npz", InputError, "terms.npz: contains an invalid contract"),
        (tmp_path / "x.part", UsageError, "does not state its number of vertices"),
        ([0, -1], InputError, "part must hold a block number"),
        ([[0, 1]], InputError, "dimension"),
        (np.array(["a"]), InputError, "whole numbers"),
    ]
    for form, error, words in wrong:
        with pytest.raises(error) as raised:
            blocks_of(form)
        assert words in str(raised.value)


def test_refusals_on_one_rank(tmp_path, plan):
    comm = OneRank()
    assert np.array_equal(shared_blocks(plan, comm, 30).part, plan.partition.part)
    blocks, first = local_blocks(plan, comm, 30)
    assert (blocks.part.size, first) == (30, 0)
    wrong = [
        (
            (ev.plan(grid((5, 6)), 2), comm),
            {},
            UsageError,
            "for 2 devices, but the program runs on 1",
        ),
        ((plan, comm), {"ranks": 3}, UsageError, "for 1 device, but the program runs on 3 ranks"),
        (([0, 1], comm), {}, UsageError, "the highest block is 1"),
        ((plan, comm, 31), {}, InputError, "divides 30 vertices, but the program has 31"),
        (
            (plan, comm),
            {"file": tmp_path / "x"},
            InputError,
            "the plan does not record its input file, so",
        ),
    ]
    for given, more, error, words in wrong:
        with pytest.raises(error) as raised:
            shared_blocks(*given, **more)
        assert words in str(raised.value)


def test_a_bug_on_rank_0_is_told_to_all(monkeypatch, plan):
    def broken(*_):
        raise MemoryError("full")

    monkeypatch.setattr("evener.integrations.ranks.blocks_of", broken)
    with pytest.raises(ev.ToolError, match=r"rank 0 cannot read the plan \(MemoryError: full\)"):
        shared_blocks(plan, OneRank())


def test_points_and_other_files_are_refused(tmp_path):
    square, other = tmp_path / "square.su2", tmp_path / "other.su2"
    square.write_text(samples.SQUARE)
    other.write_text(samples.SQUARE + "\n")
    points = ev.plan(ev.read(square, by="points"), 1)
    with pytest.raises(
        InputError, match="the plan divides points of its mesh, but the program distributes cells"
    ):
        shared_blocks(points, OneRank())
    assert shared_blocks(points, OneRank(), cells=False).by == "points"
    cells = ev.plan(str(square), 1)
    assert shared_blocks(cells, OneRank(), 4, file=square).part.tolist() == [0, 0, 0, 0]
    with pytest.raises(InputError, match="SHA-256") as raised:
        shared_blocks(cells, OneRank(), 4, file=other)
    assert raised.value.file == str(other)
    assert "square.su2" in raised.value.hint


def test_a_file_beside_that_changed_is_another_input(tmp_path):
    # As mesh.xdmf, a few lines of XML, has its numbers in mesh.h5.
    names = {"mesh.xdmf": "<Xdmf/>", "mesh.h5": "numbers"}
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    digests = {name: sha256(text.encode()).hexdigest() for name, text in names.items()}
    plan = RankBlocks(np.zeros(4, np.int32), 1, inputs=digests)
    check = partial(shared_blocks, plan, OneRank(), 4)
    check(file=tmp_path / "mesh.xdmf")
    (tmp_path / "renamed.xdmf").write_text("<Xdmf/>")
    check(file=tmp_path / "renamed.xdmf")
    (tmp_path / "mesh.h5").write_text("other numbers")
    with pytest.raises(InputError, match="SHA-256") as raised:
        check(file=tmp_path / "mesh.xdmf")
    assert raised.value.file == str(tmp_path / "mesh.h5")


def test_another_cut_is_another_order(plan):
    blocks = blocks_of(plan)
    refuse_other_cut(blocks, 0, "the mesh")
    with pytest.raises(InputError, match="the mesh has 5 facets between the plan's blocks"):
        refuse_other_cut(blocks, 5, "the mesh")
    refuse_other_cut(blocks_of(plan.partition), 5, "the mesh")  # which does not say
