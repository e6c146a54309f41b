"""Plan files: NumPy alone opens them, the same plan is the same bytes, nothing else is taken."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError
from evener.io import archives
from evener.io.plans import plan as plans
from evener.io.plans.manifest import manifest
from evener.io.plans.plan import read_plan, write_plan
from tests.assertions import path
from tests.examples import with_examples
from tests.io.plan_samples import npy, repacked


def test_numpy_alone_opens_it(plan, plan_file):
    with np.load(plan_file, allow_pickle=False) as archive:
        assert archive["part"].dtype == np.int32
        assert (archive["part"] == plan.partition.part).all()
        content = json.loads(str(archive["manifest"]))
    assert content == json.loads(json.dumps(manifest(plan)))
    assert content["verdict"] == plan.verdict()
    assert len(content["certificate"]["weights"]) == 6


def test_round_trip(plan, plan_file):
    again = read_plan(plan_file)
    assert manifest(again) == manifest(plan)
    assert again.platform == plan.platform
    for one, other in (
        (again.partition.part, plan.partition.part),
        (again.sizes, plan.sizes),
        (again.saturated, plan.saturated),
        (again.evaluation.exchange.sender, plan.evaluation.exchange.sender),
        (again.evaluation.exchange.receiver, plan.evaluation.exchange.receiver),
        (again.evaluation.exchange.values, plan.evaluation.exchange.values),
        (again.certificate.contract.caps, plan.certificate.contract.caps),
    ):
        assert (one == other).all()
        assert one.dtype == other.dtype
    assert again.notes == plan.notes
    assert again.inputs == plan.inputs


def test_the_same_bytes_again(plan, plan_file, tmp_path):
    write_plan(tmp_path / "again.plan", read_plan(plan_file))
    assert (tmp_path / "again.plan").read_bytes() == plan_file.read_bytes()


def test_infinite_imbalance_and_odd_names(plan, tmp_path):
    odd = replace(
        plan,
        evaluation=replace(plan.evaluation, imbalance=np.inf),
        inputs={'name "quoted" é\n.graph': "00"},
        notes=("tab\tand 日本",),
        options=dict(plan.options) | {"seed": np.int64(3)},
    )
    write_plan(tmp_path / "odd.plan", odd)
    again = read_plan(tmp_path / "odd.plan")
    assert again.evaluation.imbalance == np.inf
    assert again.inputs == odd.inputs
    assert again.notes == odd.notes
    assert again.options["seed"] == 3


def test_weighted_sizes_stay_real(tmp_path):
    graph = path(6, vwgt=[1.0, 2, 3, 4, 5, 6])
    write_plan(tmp_path / "w.plan", ev.plan(graph, ev.Platform.flat([1, 1]),
                                            ev.PlanOptions(epsilon=0.2)))  # fmt: skip
    assert read_plan(tmp_path / "w.plan").sizes.dtype == np.float64


@pytest.mark.parametrize(
    "content", [b"PK", b"PK\x03\x04" + b"\0" * 100, b"garbage\n" * 50, b"\x93NUMPY\x01\x00"]
)
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "x.plan").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.plan: is not a (readable )?plan file"):
        read_plan(tmp_path / "x.plan")


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_plan(tmp_path / "x.plan")
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_plan(tmp_path)


def test_every_truncation_is_refused(plan_file, tmp_path):
    content = plan_file.read_bytes()
    short = tmp_path / "short.plan"
    for length in range(0, len(content), 97):
        short.write_bytes(content[:length])
        with pytest.raises(InputError):
            read_plan(short)


@with_examples(150)
@given(st.data())
def test_changed_bytes_are_refused_or_harmless(plan, plan_file, tmp_path_factory, data):
    content = bytearray(plan_file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    changed = tmp_path_factory.getbasetemp() / "changed.plan"
    changed.write_bytes(bytes(content))
    try:
        found = read_plan(changed)
    except InputError as error:
        assert str(error).count("\n") <= 2
        return
    # Checksums cover the arrays: what is left to change is dates and the like.
    assert (found.partition.part == plan.partition.part).all()
    assert manifest(found) == manifest(plan)


@pytest.mark.slow
@with_examples(150)
@given(st.data())
def test_changed_members_are_refused_or_fit_together(plan_file, tmp_path_factory, data):
    names = ["part.npy", "sender.npy", "receiver.npy", "values.npy", "manifest.npy"]

    def change(content):
        content = bytearray(content)
        for _ in range(data.draw(st.integers(1, 3))):
            place = data.draw(st.integers(0, min(len(content), 400) - 1))
            content[place] = data.draw(st.integers(0, 255))
        return bytes(content)

    changed = tmp_path_factory.getbasetemp() / "members.plan"
    repacked(plan_file, changed, {data.draw(st.sampled_from(names)): change})
    try:
        found = read_plan(changed)
    except InputError:
        return
    k = found.platform.k
    exchange = found.evaluation.exchange
    assert ((found.partition.part >= 0) & (found.partition.part < k)).all()
    assert exchange.sender.shape == exchange.receiver.shape == exchange.values.shape
    assert found.verdict()


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("part", np.zeros(143, np.int32)),
        ("part", np.full(144, 6)),
        ("part", np.full(144, 0.5)),
        ("part", np.zeros((144, 1), np.int32)),
        ("part", np.array([{}] * 144, object)),
        ("sender", np.zeros(1, np.int64)),
        ("receiver", np.full(3, -1)),
        ("values", np.zeros(2)),
        ("values", np.array(["a"] * 3)),
        ("manifest", np.array("[1, 2]")),
        ("manifest", np.array("{")),
        ("manifest", np.array("[" * 100_000)),
        ("manifest", np.array(["{}"])),
        ("manifest", np.array(7)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(plan_file, tmp_path, name, array):
    repacked(plan_file, tmp_path / "x.plan", {f"{name}.npy": npy(array)})
    with pytest.raises(InputError):
        read_plan(tmp_path / "x.plan")


@pytest.mark.parametrize("name", ["part", "manifest", "values"])
def test_every_member_is_needed(plan_file, tmp_path, name):
    with zipfile.ZipFile(plan_file) as old, zipfile.ZipFile(tmp_path / "x.plan", "w") as new:
        for member in old.namelist():
            if member != f"{name}.npy":
                new.writestr(member, old.read(member))
    with pytest.raises(InputError):
        read_plan(tmp_path / "x.plan")


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packings_are_refused(plan_file, tmp_path, compression):
    repacked(plan_file, tmp_path / "x.plan", {}, compression=compression)
    with pytest.raises(InputError, match="is compressed by an unsupported method"):
        read_plan(tmp_path / "x.plan")


def test_bombs_are_refused_before_they_unpack(plan_file, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "ALWAYS_ALLOWED", 100_000)
    bomb = tmp_path / "x.plan"
    repacked(plan_file, bomb, {"part.npy": lambda _: b"\0" * 10_000_000})
    assert bomb.stat().st_size < 50_000
    with pytest.raises(InputError, match="part grows beyond"):
        read_plan(bomb)


def test_a_member_that_unpacks_to_more_than_it_claims(plan_file, tmp_path):
    bomb = tmp_path / "x.plan"
    repacked(plan_file, bomb, {"part.npy": lambda _: b"\0" * 10_000_000})
    content = bomb.read_bytes()
    true, claimed = (10_000_000).to_bytes(4, "little"), (704).to_bytes(4, "little")
    assert content.count(true) == 2  # in the member's header and in the directory
    bomb.write_bytes(content.replace(true, claimed))
    with pytest.raises(InputError):
        read_plan(bomb)


def test_what_shrinks_beyond_that_is_stored_and_read(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "ALWAYS_ALLOWED", 1000)
    n, k = 200_000, plan.platform.k
    certificate = replace(plan.certificate, vertices=np.bincount([0] * n, minlength=k))
    even = replace(
        plan,
        partition=ev.Partition(np.zeros(n, np.int32), k),
        evaluation=replace(plan.evaluation, certificate=certificate),
        graph=dict(plan.graph) | {"vertices": n},
    )
    write_plan(tmp_path / "x.plan", even)
    assert (tmp_path / "x.plan").stat().st_size > 4 * n
    assert read_plan(tmp_path / "x.plan").partition.n == n


def numbers_in(value, path=()):
    """Every path to a number in a record."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in numbers_in(inner, (*path, key))]
    if isinstance(value, list):
        return numbers_in(value[0], (*path, 0)) if value else []
    return [path] if isinstance(value, int | float) and not isinstance(value, bool) else []


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_no_number_is_read_that_would_not_be_written(plan, plan_file, tmp_path, word):
    """Wherever it stands, also where the reader only passes it on."""
    data = manifest(plan)
    paths = [*numbers_in(data), ("options", "more"), ("notes", 0)]
    assert len(paths) > 40
    for place in paths:
        record = json.loads(json.dumps(data))
        table = record
        for key in place[:-1]:
            table = table[key]
        if isinstance(table, list) and not table:
            continue
        table[place[-1]] = "@"
        text = json.dumps(record).replace('"@"', word)
        repacked(plan_file, tmp_path / "x.plan", {"manifest.npy": npy(np.array(text))})
        with pytest.raises(InputError):
            read_plan(tmp_path / "x.plan")


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("certificate", {"weights": np.nan}),
        ("certificate", {"bytes": np.inf}),
        ("certificate", {"volumes": -1}),
        ("certificate", {"vertices": 3}),
        ("prediction", {"compute": np.nan}),
        ("prediction", {"communicate": -1.0}),
        ("prediction", {"delay": np.inf}),
        ("prediction", {"bound": 0.0}),
        ("exchange", {"values": -1}),
        ("exchange", {"sender": 99}),
        ("exchange", {"receiver": -1}),
        ("", {"edge_cut": np.nan}),
        ("", {"edge_cut": -1.0}),
    ],
)
def test_writer_and_reader_refuse_the_same(plan, plan_file, tmp_path, monkeypatch, part, changes):
    judged = plan.evaluation
    ((name, value),) = changes.items()
    if part:
        of = getattr(judged, part)
        if isinstance(getattr(of, name), np.ndarray):
            array = getattr(of, name).copy()
            array[0], value = value, array
        judged = replace(judged, **{part: replace(of, **{name: value})})
    else:
        judged = replace(judged, **changes)
    odd = replace(plan, evaluation=judged)
    with pytest.raises(InputError, match="contains impossible values:"):
        write_plan(tmp_path / "x.plan", odd)
    monkeypatch.setattr(plans, "check_numbers", lambda _: None)
    try:
        write_plan(tmp_path / "x.plan", odd)
    except InputError as error:  # JSON has no word for it
        assert "the plan cannot be written:" in str(error)
        return
    monkeypatch.undo()
    with pytest.raises(InputError):
        read_plan(tmp_path / "x.plan")


def test_an_imbalance_that_is_none(plan, tmp_path):
    odd = replace(plan, evaluation=replace(plan.evaluation, imbalance=np.nan))
    with pytest.raises(InputError, match="its imbalance is nan"):
        write_plan(tmp_path / "x.plan", odd)


def test_options_that_json_has_no_word_for(plan, tmp_path):
    for value in (np.nan, {1, 2}, np.float64(np.inf)):
        odd = replace(plan, options=dict(plan.options) | {"more": value})
        with pytest.raises(InputError, match="the plan cannot be written:"):
            write_plan(tmp_path / "x.plan", odd)
        assert not (tmp_path / "x.plan").exists()


def test_a_plan_of_ranks_is_written_at_rank_0(plan, tmp_path):
    rank = ev.RankPlan(plan.partition.part[:3], plan.platform, plan.evaluation, None, 0)
    write_plan(tmp_path / "x.plan", rank)
    assert not (tmp_path / "x.plan").exists()
    write_plan(tmp_path / "x.plan", replace(rank, plan=plan))
    assert (read_plan(tmp_path / "x.plan").partition.part == plan.partition.part).all()
