"""The page in a real browser: no complaint, the script's tables, a phone's width."""

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from evener.graphs.stream_graph import StreamGraph
from evener.planning.stream import evaluate_filters
from evener.plans.plan import CHOSEN_STAGE, CUT_STAGE, METIS_STAGE, Stage
from evener.platforms.platform import Device, Platform
from evener.rebalancing.decision_log import read_decisions
from evener.rebalancing.row_rebalancer import RowRebalancer
from evener.reporting.decisions import write_decisions
from evener.reporting.html import report, write_comparison
from evener.reporting.runs import advice_of, write_run
from evener.reporting.stream_report import write_stream_report
from evener.reporting.stream_run_report import write_stream_run
from evener.streams.emulating import emulate_stream
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes
from tests.reporting.pages import parse, table_of
from tests.reporting.test_html import assert_numbers_are_the_plans, comparison_rows
from tests.reporting.test_run_moves import MOVE
from tests.reporting.test_runs import made as made_run
from tests.running.streams.programs import chain
from tests.streams.twins import small_case

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-sync", "--disable-background-networking", "--disable-component-update",
    "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0",
    "--virtual-time-budget=3000", "--dump-dom",
)  # fmt: skip
PHONE = 390
# Sends what `ask` returns to the page around, which shows it as text: the only way out of a
# frame of another origin, as files are to each other.
PROBE = """<script>addEventListener("load", () => {{
  const answer = (() => {{ {ask} }})();
  parent.postMessage(JSON.stringify(answer), "*");
}});</script></body>"""
WRAP = """<!DOCTYPE html><html lang="en"><title>frame</title><pre id="answer"></pre>
<script>addEventListener("message", (event) => {{
  document.getElementById("answer").textContent = event.data;
}});</script>
<iframe src="{page}" width="{width}" height="900" style="border:0"></iframe></html>"""


@pytest.fixture(scope="module")
def chromium():
    """Path of a Chromium; the test is skipped where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


def browse(chromium, folder, path):
    """The DOM after the script has run, and what the browser said of the page."""
    profile = folder / "profile"
    process = subprocess.Popen(
        [chromium, *FLAGS, f"--user-data-dir={profile}", path.as_uri()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        dom, log = process.communicate(timeout=90)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    assert process.returncode == 0, log
    return dom, [line for line in log.splitlines() if "CONSOLE" in line]


def asked(chromium, folder, page, ask, width=PHONE):
    """What a piece of script answers within the page in a frame of this width."""
    (folder / "page.html").write_text(page.replace("</body>", PROBE.format(ask=ask)))
    (folder / "wrap.html").write_text(WRAP.format(page="page.html", width=width))
    dom, complaints = browse(chromium, folder, folder / "wrap.html")
    assert complaints == []
    (answer,) = parse(dom).all("pre", id="answer")
    assert answer.text, "the page did not answer"
    return json.loads(answer.text)


# Elements that reach beyond the window, but for those in boxes that scroll on their own.
OVERFLOW = """
const beyond = [...document.querySelectorAll("body *")].filter((e) =>
  e.getBoundingClientRect().right > innerWidth + 0.5 && !e.closest(".scroll, .skip, svg"));
return {window: innerWidth, page: document.documentElement.scrollWidth,
        beyond: beyond.map((e) => e.outerHTML.slice(0, 120))};
"""


def assert_fits_a_phone(chromium, folder, page):
    answer = asked(chromium, folder, page, OVERFLOW)
    assert answer["window"] == PHONE
    assert answer["page"] <= PHONE
    assert answer["beyond"] == []


@pytest.fixture(scope="module")
def plan():
    graph = grid(12, 96)
    names = [f"a-rather-long-name-of-a-device-{b:02d}" for b in range(24)]
    return plan_of(graph, stripes(12, 96, 24), machine(24, memory=1e6, names=names))


@pytest.fixture(scope="module")
def page(plan):
    return report(plan, grid(12, 96))


def test_no_complaint_and_the_right_numbers(chromium, tmp_path, plan, page):
    path = tmp_path / "report.html"
    path.write_text(page)
    dom, complaints = browse(chromium, tmp_path, path)
    assert complaints == []
    root = parse(re.sub(r"<(path|rect|circle|image|line)([^>]*)></\1>", r"<\1\2/>", dom))
    assert_numbers_are_the_plans(root, plan)
    headings, _ = table_of(root, "certificate-table")
    (table,) = root.all("table", id="certificate-table")
    assert len(list(table.all("button"))) == len(headings)


def test_the_table_sorts_and_filters(chromium, tmp_path, plan, page):
    ask = """
    const table = document.getElementById("certificate-table");
    document.querySelector(".unfold").click();
    const press = (title) => [...table.querySelectorAll("button")]
      .find((b) => b.textContent === title).click();
    const names = () => [...table.tBodies[0].rows].filter((r) => !r.hidden)
      .map((r) => r.cells[0].textContent);
    press("time");
    const rising = names(), told = table.querySelector("[aria-sort]").getAttribute("aria-sort");
    press("time");
    const falling = names();
    const filter = table.parentElement.previousElementSibling;
    const input = filter.querySelector("input");
    input.value = "DEVICE-1";
    input.dispatchEvent(new Event("input"));
    const shown = names(), count = filter.querySelector("output").textContent;
    return {rising, told, falling, shown, count};
    """
    answer = asked(chromium, tmp_path, page, ask, width=1280)
    seconds = dict(zip(plan.platform.names, plan.prediction.ends, strict=True))
    rising = [seconds[name] for name in answer["rising"]]
    assert rising == sorted(seconds.values())
    assert answer["told"] == "ascending"
    assert [seconds[name] for name in answer["falling"]] == rising[::-1]
    assert len(answer["shown"]) == 10
    assert all("device-1" in name for name in answer["shown"])
    assert answer["count"] == "10 of 24"


HEIGHTS = """
const height = () => document.documentElement.scrollHeight;
const folded = height(), button = document.querySelector(".unfold");
button.click();
const unfolded = height(), open = document.querySelectorAll("details.fold[open]").length;
button.click();
return {folded, unfolded, open, again: height()};
"""


@pytest.fixture(scope="module")
def demo():
    """A plan for seconds like the one of `make demo`: few devices, rivals, what limits it."""
    graph = grid(60, 120)
    names = ["old0", "old1", "new0", "new1", *(f"gpu{i}" for i in range(4))]
    plan = plan_of(graph, stripes(60, 120, 8), machine(8, memory=1e6, names=names))
    roles = [CUT_STAGE, METIS_STAGE, *[""] * 9, CHOSEN_STAGE]
    stages = [
        Stage(f"{i} devices, slabs", 9.0, 9, 9, 3, 1.0, 1.0, (13 - i) * 1e3, role)
        for i, role in enumerate(roles)
    ]
    return replace(plan, stages=tuple(stages), options={**plan.options, "objective": "seconds"})


def test_a_report_is_short_until_it_is_unfolded(chromium, tmp_path, demo):
    answer = asked(chromium, tmp_path, report(demo, grid(60, 120)), HEIGHTS, width=1280)
    assert answer["folded"] < 3500
    assert answer["unfolded"] > answer["folded"] + 500
    assert answer["open"] == 4
    assert answer["again"] == answer["folded"]


def test_the_picture_stands_beside_times_and_loads(chromium, tmp_path, demo):
    ask = """
    const box = (e) => e.getBoundingClientRect();
    const picture = box(document.querySelector(".pictures svg"));
    const charts = [...document.querySelectorAll("#devices ol")].map(box);
    const names = [...document.querySelectorAll("#devices .name")];
    return {right: picture.right, lefts: charts.map((c) => c.left), n: names.length,
            cut: names.filter((e) => e.scrollWidth > e.clientWidth).length};
    """
    answer = asked(chromium, tmp_path, report(demo, grid(60, 120)), ask, width=1280)
    assert len(answer["lefts"]) == 2
    assert all(left >= answer["right"] for left in answer["lefts"])
    assert (answer["n"], answer["cut"]) == (16, 0)


def test_a_phone_shows_a_report_without_scrolling_sideways(chromium, tmp_path, page):
    assert_fits_a_phone(chromium, tmp_path, page)


def test_a_phone_shows_blocks_drawn_as_a_graph(chromium, tmp_path):
    graph = grid(3, 300)
    plan = plan_of(graph, stripes(3, 300, 100), machine(100), notes=("x" * 300,),
                   inputs={"y" * 200: "0" * 64})  # fmt: skip
    assert_fits_a_phone(chromium, tmp_path, report(plan))


def test_a_phone_shows_a_comparison(chromium, tmp_path):
    path = tmp_path / "compare.html"
    write_comparison(path, comparison_rows(), grid(3, 3), machine(2),
                     options={"seed": 7}, inputs={"graph": "0" * 64})  # fmt: skip
    assert_fits_a_phone(chromium, tmp_path, path.read_text())


def test_a_phone_shows_a_run(chromium, tmp_path):
    plan, run, breakdown = made_run(40)
    names = [f"a-rather-long-name-of-a-device-{b:02d}" for b in range(40)]
    devices = [
        replace(one, name=name) for one, name in zip(plan.platform.devices, names, strict=True)
    ]
    platform = replace(plan.platform, devices=tuple(devices))
    command = {"loads": ["evener", "plan", "x" * 200, "--speeds", "y" * 100]}
    advice = advice_of(breakdown, names, command)
    moved = replace(run, moves=(MOVE,))
    write_run(tmp_path / "run.html", moved, platform, breakdown, advice, "z" * 200)
    assert_fits_a_phone(chromium, tmp_path, (tmp_path / "run.html").read_text())


def test_a_phone_shows_a_stream_plan(chromium, tmp_path):
    problem = small_case(1, n=2, k=40)
    names = [f"a-rather-long-name-of-a-device-{p:02d}" for p in range(40)]
    devices = [replace(one, name=name, at=one.name) for one, name in
               zip(problem.processors.platform.devices, names, strict=True)]  # fmt: skip
    platform = replace(problem.processors.platform, devices=tuple(devices))
    filters = tuple(f"{'x' * 90} of {v}" for v in range(80))
    ends = np.arange(79)
    graph = StreamGraph(filters, ends[[0] * 80] + 9, np.ones(80), ends, ends + 1, ends)
    plan = evaluate_filters(graph, platform, np.arange(80) % 40, inputs={"y" * 200: "0" * 64})
    write_stream_report(tmp_path / "x.html", plan)
    assert_fits_a_phone(chromium, tmp_path, (tmp_path / "x.html").read_text())


def test_a_phone_shows_the_run_of_a_stream_program(chromium, tmp_path):
    program = chain(*[lambda *_: np.zeros(2)] * 40)
    names = {one.name: f"{'x' * 60} {one.name}" for one in program.filters}
    channels = [replace(c, source=names[c.source], to=names[c.to]) for c in program.channels]
    filters = tuple(replace(one, name=names[one.name]) for one in program.filters)
    program = replace(program, filters=filters, channels=tuple(channels), name="z" * 100)
    devices = [Device("y" * 60 + str(p), 1.0, capabilities={"mips": 1.0}) for p in range(40)]
    plan = evaluate_filters(program.graph, Platform(tuple(devices)), np.arange(40))
    write_stream_run(tmp_path / "x.html", emulate_stream(program, plan, 100), program, plan)
    assert_fits_a_phone(chromium, tmp_path, (tmp_path / "x.html").read_text())


def test_a_phone_shows_decisions(chromium, tmp_path):
    rows = RowRebalancer([60, 60], log=tmp_path / "d.jsonl")
    for i in range(12):
        rows.observe(rows.sizes * np.array([1e-3, 2e-3 if i > 4 else 1e-3]))
    rows.close()
    write_decisions(tmp_path / "d.html", read_decisions(tmp_path / "d.jsonl"))
    assert rows.moves
    assert_fits_a_phone(chromium, tmp_path, (tmp_path / "d.html").read_text())


def test_the_keyboard_reaches_everything_that_can_be_pressed(chromium, tmp_path, page):
    ask = """
    document.querySelector(".unfold").click();
    const wanted = [...document.querySelectorAll("a, button, input, summary, .scroll")];
    const cannot = wanted.filter((e) => { e.focus(); return document.activeElement !== e; });
    const first = document.querySelector("a");
    first.focus();
    return {n: wanted.length, cannot: cannot.filter((e) => !e.closest("details:not([open])"))
              .map((e) => e.outerHTML.slice(0, 120)),
            skip: first.className, seen: first.getBoundingClientRect().left >= 0};
    """
    answer = asked(chromium, tmp_path, page, ask)
    assert answer["n"] > 20
    assert answer["cannot"] == []
    assert answer["skip"] == "skip"
    assert answer["seen"]
