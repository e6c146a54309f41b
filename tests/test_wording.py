"""Text as people read it: marks as escapes, names in few words, numbers with units, repr."""

import ast
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener import wording
from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.polymesh import PolyMesh
from evener.plans.plan import Stage
from evener.wording import brief, number, printable, ranges, shortened, spread, without_marks
from tests.assertions import grid

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
GRAPH = grid(30, 40, coords=np.random.default_rng(5).random((1200, 2)))
PLATFORM = ev.Platform(
    (ev.Device("gpu", 4.0, memory=1e9), *(ev.Device(f"cpu{i}", 1.0) for i in range(40))),
    (ev.Level("node", ev.Link(1e-6, 1e-9)),),
)
PLAN = ev.plan(GRAPH, PLATFORM, tool="rcb", objective="cut")
MESH = triangle_mesh(500, seed=3)
CURVE = ev.DeviceSpeeds("gpu", tuple(ev.Sample(float(d), d / 7.0) for d in range(1, 90)))


@pytest.mark.parametrize(
    "mark", [*"\x00\x07\x1b\x7f\x9b\u200e\u200f\u061c\u2028\u202e\u2066\u2069"]
)
def test_marks_are_shown_as_escapes(mark):
    shown = mark.encode("unicode_escape").decode()
    assert printable(f"a{mark}b") == without_marks(f"a{mark}b") == f"a{shown}b"
    assert printable(printable(f"a{mark}b")) == f"a{shown}b"


def test_what_is_seen_as_itself_is_left_alone():
    assert printable("gpu0 é 日本 µs\n", "\n") == "gpu0 é 日本 µs\n"
    assert printable("\ud800") == "\\ud800"
    assert without_marks("a\n\tb\u00a0c\u2009d") == "a\n\tb\u00a0c\u2009d"


def test_quotations_are_cut_and_apostrophes_are_not():
    long = "x" * 100
    for text in (
        f"no '{long}' here",
        f'no "{long}" here',
        f"no b'{long}' here",
        f"no `{long}` here",
    ):
        assert shortened(text, 400).count("x") == 57
        assert shortened(text, 400).endswith(" here")
    for quoted in ("\x1b" * 100, "\u202e" * 100, "\\" * 100, "'\"" * 100, "\U000e0001" * 30):
        text = shortened(f"no device {quoted!r} here", 400)
        shown = text.removeprefix("no device ").removesuffix(" here")[1:-1]
        assert 45 < len(shown) <= 60
        assert shown.endswith("...")
        assert repr(quoted)[1:].startswith(shown[:-3])
        assert ast.literal_eval(f"'{shown}'")  # no escape is cut in two
    plain = "the plan's own machine, whose devices are not those of the machine's file, nor its own"
    assert shortened(plain, 400) == plain
    assert shortened("a\nb", 400) == "a b"
    assert len(shortened("y " * 5000, 400)) == 400


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["gpu0"], "gpu0"),
        (["cpu0", "cpu1", "cpu2"], "cpu0..cpu2"),
        (["gpu0", "cpu0", "gpu1", "cpu1"], "gpu0, gpu1, cpu0 and cpu1"),
        (["a1", "a3", "b"], "a1, a3 and b"),
        (["a1", "a3", "a5", "a7", "a8"], "a1, a3 and 3 more"),
        (["x\x1b"], "x\\x1b"),
    ],
)
def test_names_as_ranges(names, said):
    assert ranges(names, 2 if "more" in said else 6) == said


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0031, "3.10 ms"), (0.00999, "9.99 ms"), (0.9999, "1.00 s"), (16.6e-6, "16.6 µs"),
        (4.0, "4.00 s"), (191.04, "191 s"), (999.6, "1,000 s"), (60398.2, "60,398 s"), (0, "0 s"),
        (5e-10, "0.5 ns"), (1e29, "1e+29 s"), (math.inf, "forever"), (None, "–"),
    ],
)  # fmt: skip
def test_durations(seconds, text):
    assert wording.duration(seconds) == text


@given(st.floats(1e-9, 1e12))
def test_a_duration_read_back_is_right_to_three_digits(seconds):
    value, unit = wording.duration(seconds).replace(",", "").split()
    assert float(value) * UNITS[unit] == pytest.approx(seconds, rel=0.005)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(528, "528 B"), (1536, "1.50 KiB"), (966_367.6, "944 KiB"), (2**32, "4.00 GiB"),
     (math.inf, "no cap"), (None, "–")],
)  # fmt: skip
def test_memory(n_bytes, text):
    assert wording.memory(n_bytes) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(9_412_000, "9,412,000"), (12_345_678, "12.3 M"), (2e9, "2.00 G"), (7241.3, "7,241.3"),
     (0.25, "0.25"), (math.inf, "unlimited"), (None, "–")],
)  # fmt: skip
def test_counts(value, text):
    assert wording.count(value) == text


def test_shares_and_ratios():
    assert wording.percent(0.0301) == "3.0 %"
    assert wording.percent(math.nan) == "–"
    assert wording.signed_percent(0.0042) == "+0.42 %"
    assert wording.signed_percent(-0.0242) == "−2.42 %"
    assert wording.signed_percent(-1e-9) == "0.00 %"
    assert wording.signed_percent(math.nan) == "–"
    assert wording.signed_percent(10.0) == "+1000.00 %"
    assert wording.signed_percent(12.0) == "13 times"
    assert wording.signed_percent(6.17283950617283840e15) == "6.17e+15 times"
    assert wording.percent(12.0) == "12 times"
    assert wording.ratio(1.0765) == "1.08x"
    assert wording.ratio(443.27) == "443x"
    assert wording.ratio(math.inf) == "–"


def test_words():
    assert wording.plural(1, "vertex", "vertices") == "1 vertex"
    assert wording.plural(1200, "device") == "1,200 devices"
    assert [wording.all_of(n, "block") for n in (1, 2, 1200)] == [
        "The block", "Both blocks", "All 1,200 blocks",
    ]  # fmt: skip
    assert wording.speed(2e8) == "200 M units/s"
    assert wording.speed(0.5) == "0.5 units/s"


def things():
    contract, sizes = ev.contract_for(GRAPH, PLATFORM)
    models = [ev.fit_model(CURVE.samples, kind) for kind in ("piecewise", "akima")]
    part = PLAN.partition
    return [
        GRAPH, GRAPH.with_(vwgt=np.ones((1200, 3))), MESH, PLATFORM, ev.Platform.flat([1, 2, 3]),
        contract, sizes, part, PLAN, PLAN.certificate, PLAN.prediction, PLAN.evaluation,
        PLAN.evaluation.exchange, CURVE, *models, ev.solve_sizes(models, 7),
        ev.enforce(GRAPH, part, contract), ev.refine(GRAPH, part),
        ev.map_blocks(GRAPH, part, PLATFORM, contract), ev.tile([1.0, 2.0], (40, 50)),
        ev.tile([1.0, 2.0], (40, 50)).tiling, *ev.compare(GRAPH, PLATFORM, "rcb"),
        ev.advise(GRAPH, 2), ev.advise(GRAPH, 2).best,
        ev.run_program("bfs", GRAPH, part), ev.split(GRAPH, 2).metrics,
        *ev.compare_edges(GRAPH, 2, ["hdrf"]), *ev.edge_shares(GRAPH, ev.split(GRAPH, 2)).values(),
    ]  # fmt: skip


@pytest.mark.slow
def test_two_lines_whatever_is_held():
    for thing in things():
        text = repr(thing)
        assert text.startswith(f"{type(thing).__name__}("), text
        assert text.endswith(")"), text
        assert text.count("\n") <= 1, text
        assert max(map(len, text.split("\n"))) <= 110, text
        assert "array" not in text, text


def test_what_stands_there():
    assert repr(GRAPH) == (
        "Graph(1,200 vertices, 2,330 edges, 2 to 4 neighbours each,\n"
        "      weight 1 each, edges weigh 1 each, coordinates in 2-D)"
    )
    assert repr(ev.Platform.flat([1, 2.5])) == (
        "Platform(2 devices, 'dev0' to 'dev1',\n"
        "         speeds 1 to 2.5, no memory stated, no links)"
    )
    assert repr(ev.Partition([0, 1, 1], 3)) == (
        "Partition(3 vertices, 3 blocks,\n          1 to 2 vertices in each, 1 of them empty)"
    )
    assert repr(ev.Contract([4, 2], [3, 2], [5, 2], [1e9, np.inf], makespan=0.25)) == (
        "Contract(2 blocks, targets 2 to 4, memory of 1 capped,\n"
        "         low 2 to 3, high 2 to 5, done within 250 ms)"
    )
    assert repr(Stage("slabs", 31, 23, 58, 2, 1.0, 1.01, 0.00125)) == (
        "Stage(slabs: edge cut 31, volume 58, 23 of one block at most, 0.00125 s)"
    )
    assert "41 devices" in repr(PLAN)
    assert f"edge cut {PLAN.evaluation.edge_cut:,.0f}" in repr(PLAN)
    assert "41 of 41 contracts kept" in repr(PLAN)


def test_files_are_named(tmp_path):
    ev.write_graph(tmp_path / "g.graph", GRAPH.with_(coords=None))
    assert repr(ev.read(tmp_path / "g.graph")) == (
        "Reading(metis, Graph, 1,200 vertices,\n        from g.graph, 0 notes)"
    )


@pytest.mark.parametrize("graph", [ev.Graph([0], []), ev.Graph([0, 0], [])])
def test_nothing_in_it(graph):
    assert repr(graph).startswith(f"Graph({graph.n} vert")


def test_polyhedra():
    assert "2-D" in repr(MESH)
    corners = [0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3]
    cell = PolyMesh(np.eye(4, 3), [0, 3, 6, 9, 12], corners, [0, 0, 0, 0], [])
    assert repr(cell).count("\n") == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "True"), (4012, "4,012"), (2.0, "2"), (0.125, "0.125"), (10**20, "about 10^20"),
     (float("inf"), "inf"), (float("nan"), "nan"), (np.int64(7), "7")],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


def test_ranges():
    assert spread(np.array([1, 1])) == "1"
    assert spread(np.array([], float)) == "none"
    assert spread(np.array([1.0, np.inf])) == "1 to inf"


def test_long_ones_are_cut_short():
    text = brief(replace(ev.PlanOptions(), shares="x" * 0))
    assert text.count("\n") == 1
    assert text.endswith("...)")


def test_a_removed_name_is_answered_with_what_serves_in_its_place(monkeypatch):
    monkeypatch.setitem(wording.REMOVED, "gone", "use `here`")
    assert wording.meant("gone", ["gones"]) == ", which was removed: use `here`"
