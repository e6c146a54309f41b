"""The page as a text: right numbers, whole, small, its own, the same every time."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from evener.errors import InputError
from evener.planning.bottleneck import bottleneck_of
from evener.plans.plan import CHOSEN_STAGE, CUT_STAGE, METIS_STAGE, Rival, Stage
from evener.reporting.headline import bottleneck_sentence, change_rows
from evener.reporting.html import report, write_comparison, write_report
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, quads, stripes, tetrahedra
from tests.reporting.pages import parse, table_of

LIMIT = 3_000_000
NASTY = "<b>&\"'</script>{{7*7}}"


def assert_is_well_made(page):
    """Everything a page must be whatever it shows; returns it as a tree."""
    assert len(page.encode()) < LIMIT
    root = parse(page)
    ids = [e.attributes["id"] for e in root.all() if "id" in e.attributes]
    assert len(set(ids)) == len(ids)
    for element in root.all():
        for name in ("href", "src", "action", "data"):
            target = element.attributes.get(name, "#")
            assert target.startswith(("#", "data:image/png;base64,")), f"{name}={target[:80]}"
            if target.startswith("#") and len(target) > 1:
                assert target[1:] in ids
        for name in element.attributes:
            assert not name.startswith("on"), f"{name} in an attribute"
    assert not re.search(r"https?://|@import|url\(", page)
    assert len(list(root.all("h1"))) == 1
    assert len(list(root.all("main"))) == 1
    headings = [int(e.tag[1]) for e in root.all() if re.fullmatch("h[1-6]", e.tag)]
    assert all(b <= a + 1 for a, b in pairwise(headings))
    for svg in root.all("svg"):
        assert svg.attributes["role"] == "img"
        assert svg.attributes["aria-label"]
    for scroll in root.all("div", class_="scroll"):
        assert scroll.attributes["tabindex"] == "0"
        assert scroll.attributes["aria-label"]
    for table in root.all("table"):
        assert all("scope" in cell.attributes for cell in table.all("th"))
    return root


def assert_numbers_are_the_plans(root, plan):
    headings, rows = table_of(root, "certificate-table")
    certificate = plan.certificate
    assert [row[0][0] for row in rows] == plan.platform.names
    for title, values in {
        "weight": certificate.weights, "target": certificate.contract.targets,
        "memory": certificate.bytes, "sends": certificate.volumes,
        "boundary": certificate.boundary, "time": plan.prediction.ends,
    }.items():  # fmt: skip
        column = headings.index(title)
        assert [float(row[column][1]) for row in rows] == values.tolist()
    figures = {e.text.strip() for e in root.all("dl", class_="figures")}
    assert len(figures) == 1
    text = figures.pop()
    assert f"{plan.evaluation.edge_cut:,.0f}" in text
    assert f"{plan.evaluation.total_volume:,}" in text
    (heading,) = root.all("h1")
    assert plan.verdict() in heading.text


def test_a_report(small_plan):
    plan, graph = small_plan
    root = assert_is_well_made(report(plan, graph))
    assert_numbers_are_the_plans(root, plan)
    text = root.text
    assert "ab" * 32 in text  # the input's hash
    assert "5.2.1" in text  # the tool's version
    assert plan.notes[0] in text
    assert [e.text for e in root.all("h2")] == [
        "Blocks, times and loads", "Bottleneck, and what would help most",
        "Exchange", "Certificate", "Provenance",
    ]  # fmt: skip
    limits = bottleneck_of(plan.evaluation, plan.platform, plan.workload)
    assert bottleneck_sentence(limits) in text
    assert all(cell in text for row in change_rows(limits) for cell in row)


def test_what_few_need_is_folded_and_nothing_else(small_plan):
    plan, graph = small_plan
    root = parse(report(replace(plan, stages=STAGES), graph))
    folds = list(root.all("details", class_="fold"))
    assert [e.attributes["id"] for e in folds] == [
        "exchange", "stages", "certificate", "provenance"
    ]  # fmt: skip
    assert not any("open" in e.attributes for e in folds)
    for fold in folds:
        (summary,) = list(fold.all("summary"))[:1]
        (title,) = summary.all("h2")
        (gist,) = summary.all("span")
        assert title.text
        assert gist.text
    (devices,) = root.all("section", id="devices")
    assert not list(devices.all("details"))


def test_every_bar_has_a_name_and_the_colour_of_its_block(small_plan):
    plan, graph = small_plan
    root = parse(report(plan, graph))
    charts = list(root.all("ol"))
    assert len(charts) == 3  # times, loads, volumes
    for chart in charts:
        rows = [e for e in chart.all("li") if "head" not in e.attributes.get("class", "")]
        named = [next(row.all("span", class_="name")).text for row in rows]
        assert sorted(named) == plan.platform.names
        chips = [next(row.all("i", class_="chip")) for row in rows]
        colours = dict(zip(named, (e.attributes["style"] for e in chips), strict=True))
        assert len(set(colours.values())) == 4
        assert {plan.platform.names[int(e.text)] for e in chips} == set(plan.platform.names)


def test_unused_devices_are_one_line():
    graph = grid(6, 40)
    names = [*(f"slow{i}" for i in range(6)), "fast0", "fast1"]
    plan = plan_of(graph, 6 + stripes(6, 40, 2), machine(8, names=names), epsilon=0.5)
    root = assert_is_well_made(report(plan, graph))
    (line,) = root.all("p", class_="unused")
    assert line.text == "6 devices unused: slow0..slow5."
    (devices,) = root.all("section", id="devices")
    named = [e.text.split()[0] for e in devices.all("span", class_="name")]
    assert named == ["fast0", "fast1"] * 2


def test_communication_that_is_not_stated_is_not_free(small_plan):
    plan, graph = small_plan
    flat = replace(plan, platform=replace(plan.platform, levels=()))
    root = assert_is_well_made(report(flat, graph))
    assert "No links stated: communication is not known" in root.text
    assert not list(root.all("section", id="bottleneck"))


def test_metis_and_the_minimum_cut_plan_stand_beside_the_plan(small_plan):
    plan, graph = small_plan
    ours = plan.prediction.makespan
    stages = [
        Stage(name, 9.0, 9, 9, 3, 1.0, 1.0, seconds * ours, role)
        for name, seconds, role in (
            ("plain plan", 2.5, CUT_STAGE), ("METIS with speeds", 1.02, METIS_STAGE),
            ("slabs", 1.5, ""), ("sketched", 1.0, ""), ("chosen: sketched", 1.0, CHOSEN_STAGE),
        )
    ]  # fmt: skip
    root = assert_is_well_made(report(replace(plan, stages=tuple(stages)), graph))
    (section,) = root.all("section", id="compared")
    names = [e.text for e in section.all("th", scope="row")]
    assert names == ["METIS at the same sizes", "Evener's minimum-cut plan", "this plan"]
    assert "+2.0 %" in section.text
    assert "2.0 % slower than this plan" in root.text
    (steps,) = root.all("details", id="stages")
    assert steps.text.count("strips side by side") == 2  # its bar and its row
    assert "sketched" not in steps.text


def test_the_exchange_is_there_in_numbers(small_plan):
    plan, graph = small_plan
    root = parse(report(plan, graph))
    (matrix,) = root.all("svg", class_="matrix")
    shown = [e.text for e in matrix.all("title")]
    exchange, names = plan.evaluation.exchange, plan.platform.names
    assert shown == [
        f"{names[a]} to {names[b]}: {value}"
        for a, b, value in zip(exchange.sender, exchange.receiver, exchange.values, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("make", [quads, lambda *_: tetrahedra(6)])
def test_same_plan_same_bytes(tmp_path, make):
    mesh = make(6, 20)
    graph = mesh.dual_graph()
    plan = plan_of(graph, np.arange(graph.n) * 3 // graph.n, machine(3), epsilon=0.5)
    write_report(tmp_path / "a.html", plan, graph, mesh)
    write_report(tmp_path / "b.html", plan, graph, mesh)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert_is_well_made((tmp_path / "a.html").read_text())


def test_names_are_text_and_nothing_else():
    platform = machine(3, names=[NASTY, NASTY + "2", "<script>alert(1)</script>"])
    graph = grid(6, 30)
    plan = plan_of(
        graph, stripes(6, 30, 3), replace(platform, name=NASTY),
        inputs={NASTY: "00"}, notes=(NASTY,), versions={NASTY: NASTY},
        options={NASTY: NASTY, "reading": {NASTY: NASTY}},
    )  # fmt: skip
    root = assert_is_well_made(report(plan, graph))
    assert_numbers_are_the_plans(root, plan)
    assert len(list(root.all("script"))) == 1
    names = [letter * len(name) for letter, name in zip("xyz", platform.names, strict=True)]
    plain = report(replace(plan, platform=machine(3, names=names)), graph)
    assert len(list(root.all("b"))) == len(list(parse(plain).all("b")))


def test_a_broken_contract_is_said_in_words():
    graph = grid(4, 30)
    plan = plan_of(graph, np.repeat([0] * 20 + [1] * 10, 4), machine(2))
    root = assert_is_well_made(report(plan, graph))
    assert "2 of 2 blocks break their contract" in root.text
    assert root.text.count("outside its contract") == 2
    _, rows = table_of(root, "certificate-table")
    assert [row[1][0] for row in rows] == ["NO", "NO"]


def test_without_places_the_blocks_are_drawn_as_a_graph(small_plan):
    plan, graph = small_plan
    for page in (report(plan), report(plan, replace(graph, coords=None))):
        root = assert_is_well_made(page)
        (network,) = root.all("svg", class_="network")
        titles = [e.text for e in network.all("title")]
        assert titles[0].startswith("dev0: weight 192, 1 neighbour, ")
        assert len(titles) == 4


@pytest.mark.slow
def test_one_block_and_isolated_blocks():
    lonely = grid(3, 4)
    plan = plan_of(lonely, np.zeros(12, int), machine(1))
    assert "nothing is sent" in assert_is_well_made(report(plan, lonely)).text
    assert_is_well_made(report(plan))


@pytest.mark.slow
def test_a_thousand_devices_stay_small_and_listed():
    graph = grid(40, 100)
    plan = plan_of(graph, np.arange(4000) // 4, machine(1000, speeds=(1.0, 2.0, 3.0)))
    root = assert_is_well_made(report(plan))
    assert_numbers_are_the_plans(root, plan)


@pytest.mark.slow
def test_more_devices_than_a_page_holds():
    graph = grid(1, 3000)
    plan = plan_of(graph, np.arange(3000), machine(3000))
    root = assert_is_well_made(report(plan, graph))
    _, rows = table_of(root, "certificate-table")
    assert len(rows) == 2000
    assert "2,000 of 3,000 devices are shown" in root.text


@pytest.mark.slow
def test_scraps_do_not_break_the_size():
    """Noise does not compress: the pictures are drawn smaller."""
    mesh = quads(700, 1000)
    graph = grid(700, 1000)
    part = np.random.default_rng(3).integers(0, 64, graph.n)
    page = report(plan_of(graph, part, machine(64), epsilon=0.5), graph, mesh)
    assert "data:image/png" in page
    assert_is_well_made(page)


def test_another_graph_is_refused(small_plan):
    plan, _ = small_plan
    with pytest.raises(InputError, match="480 entries"):
        report(plan, grid(2, 2))


STAGES = (
    Stage("k-means", 100.0, 30, 90, 3, 0.98, 1.02),
    Stage("refined", 80.0, 24, 72, 3, 0.97, 1.03),
)


@pytest.mark.slow
def test_before_and_after(small_plan):
    plan, graph = small_plan
    root = assert_is_well_made(report(replace(plan, stages=STAGES), graph))
    (section,) = root.all("details", id="stages")
    assert "From k-means to refined: cut 0.80x, largest volume 0.80x" in section.text
    assert [e.text for e in section.all("th", scope="row")] == ["k-means", "refined"]
    assert "0.970 to 1.030" in section.text
    assert not list(parse(report(plan, graph)).all("details", id="stages"))


def test_against_a_rival(small_plan):
    plan, graph = small_plan
    theirs = Stage("before repair", plan.evaluation.edge_cut / 2, 30, 90, 3, 0.98, 1.02)
    rival = Rival("scotch", (theirs, replace(theirs, name="enforced")), 1.0, 0.5)
    root = assert_is_well_made(report(replace(plan, cpu_seconds=0.25, rival=rival), graph))
    (section,) = root.all("section", id="versus")
    assert "metis over scotch: cut 2.00x" in section.text
    names = [e.text for e in section.all("th", scope="row")]
    assert names == ["scotch", "scotch, enforced", "metis"]
    assert "500 ms" in section.text
    assert "250 ms" in section.text


def test_a_rival_that_made_nothing_says_why(small_plan):
    plan, graph = small_plan
    page = report(replace(plan, rival=Rival("scotch", note="<not> installed")), graph)
    (section,) = assert_is_well_made(page).all("section", id="versus")
    assert "<not> installed" in section.text
    assert not list(section.all("table"))


def test_volumes_of_all_blocks_are_there(small_plan):
    plan, graph = small_plan
    (section,) = parse(report(plan, graph)).all("details", id="exchange")
    (chart,) = section.all("ol")
    shown = {next(e.all("span", class_="name")).text: next(e.all("b")).text
             for e in chart.all("li")}  # fmt: skip
    assert shown == dict(
        zip(plan.platform.names, map(str, plan.certificate.volumes.tolist()), strict=True)
    )


def comparison_rows():
    usual = {"note": "", "family": "external", "moved": 3, "cpu_seconds": 0.5,
             "enforce_seconds": 0.01, "holds": True, "smallest": 0.97, "largest": 1.03,
             "held_before": True}  # fmt: skip
    return [
        usual | {"tool": "slower", "edge_cut": 80.0, "max_volume": 30, "total_volume": 90,
                 "imbalance": 0.02, "seconds": 2.0},
        usual | {"tool": "faster", "edge_cut": 100.0, "max_volume": 20, "total_volume": 95,
                 "imbalance": 0.0, "seconds": 1.5},
        usual | {"tool": "<failed>", "edge_cut": None, "max_volume": None, "total_volume": None,
                 "imbalance": None, "seconds": None, "holds": None, "smallest": None,
                 "largest": None, "note": "ran <out> of time"},
    ]  # fmt: skip


def test_a_comparison(tmp_path):
    path = tmp_path / "compare.html"
    options = {"tool": "auto", "seed": 7, "epsilon": 0.03, "reading": {"by": "cells"}}
    write_comparison(
        path, comparison_rows(), grid(3, 3), machine(2), options=options, inputs={"g": "12" * 32}
    )
    root = assert_is_well_made(path.read_text())
    (heading,) = root.all("h1")
    assert heading.text == (
        "2 of 3 tools end within the contract; faster is predicted fastest (1.50 s), "
        "slower has the least cut (80)."
    )
    rows = [e.text for e in root.all("th", scope="row")]
    assert rows[:3] == ["faster", "slower", "<failed>"]
    assert "ran <out> of time" in root.text
    assert "+33.3 %" in root.text  # 2.0 s / 1.5 s
    charts = [[e.text for e in chart.all("span", class_="name")] for chart in root.all("ol")]
    assert charts[0] == ["faster", "slower"]  # by time; the one that failed has no bar
    assert charts[1] == ["faster", "slower"]  # all in the order of the table
    lengths = [[float(e.attributes["style"].split(":")[1].rstrip("%")) for e in chart.all("i")]
               for chart in root.all("ol")]  # fmt: skip
    assert lengths[:2] == [[0, 100], [100, 0]]
    assert "12" * 32 in root.text


def test_times_that_are_near_each_other_can_be_told_apart(tmp_path):
    first, second, _ = comparison_rows()
    rows = [first | {"seconds": 461e-6}, second | {"seconds": 452e-6}]
    path = tmp_path / "compare.html"
    write_comparison(path, rows, grid(3, 3), machine(2), options={"shares": ""}, inputs={})
    root = assert_is_well_made(path.read_text())
    (best, other) = next(root.all("ol")).all("i")
    assert best.attributes["style"] == "width:0.0%"
    assert other.attributes["style"] == "width:39.8%"  # 2.0 % above the best, of 5 %
    assert "shares" not in root.text  # not asked for, and not blank


def test_a_comparison_of_failures(tmp_path):
    path = tmp_path / "compare.html"
    write_comparison(path, comparison_rows()[2:], grid(3, 3), machine(2), options={}, inputs={})
    (heading,) = assert_is_well_made(path.read_text()).all("h1")
    assert heading.text == "No tool made blocks."


def test_of_a_plan_in_slices(small_plan):
    """Without its graph, which independent code has read nevertheless; no METIS, no raw dict."""
    plan, _ = small_plan
    options = {**plan.options, "sliced": {"groups": 4, "memory": 2**31}}
    ours = plan.prediction.makespan
    cut = Stage("plain plan", 100.0, 40, 100, 5, 0.9, 1.1, 2 * ours, CUT_STAGE)
    chosen = Stage("chosen: x", 150.0, 30, 100, 4, 0.97, 1.03, ours, CHOSEN_STAGE)
    page = report(replace(plan, options=options, stages=(cut, chosen), rival=None))
    assert "Compared with Evener&#39;s minimum-cut plan" in page
    assert "METIS" not in page
    assert "every number was counted again from the graph, slice by slice" in page
    assert "no graph is given" not in page
    assert "{&#39;" not in page
    assert "2.00 GiB <span>memory limit of the process" in page
    assert "no graph is given" in report(plan)
