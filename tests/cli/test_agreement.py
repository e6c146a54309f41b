"""Plan, export and evaluate agree on ten machines, no option of the plan repeated."""

import json

import pytest

from tests.choosing import slow_but

CPU = '[[device]]\nname = "cpu"\ncount = 2\nspeed = 2.0e7\n'
GPU = '[[device]]\nname = "gpu"\nspeed = 1.2e8\n'
LINKS = '[[level]]\nname = "net"\nalpha_us = 1.0\nGB_per_s = 5.0\n'
CURVE = '[[device]]\nname = "{}"\nsamples = [[50, {}], [500, {}], [5000, {}]]\n'
# Machine file, options of the plan.
CASES = {
    "no links": (CPU + GPU, ()),
    "links": (LINKS + CPU + GPU, ()),
    "memory": (CPU + GPU + "memory_GiB = 2.0e-5\n", ()),
    "links, memory": (LINKS + CPU + GPU + "memory_GiB = 2.0e-5\n", ()),
    "links, kernel": (LINKS + CPU + GPU, ("--kernel", "spmv", "--overlap")),
    "links, bytes": (
        LINKS + CPU + GPU + "memory_GiB = 1.0e-3\n",
        ("--bytes-per-vertex", "1024", "--bytes-per-value", "40"),
    ),
    "own limits": (LINKS + CPU + "low_units = 150\n" + GPU + "high_units = 300\n", ()),
    "own limits, no links": (CPU + "low_units = 150\n" + GPU + "high_units = 300\n", ()),
    "dear messages": (LINKS.replace("1.0\n", "100.0\n") + CPU + GPU, ()),
    "epsilon": (CPU + GPU, ("--epsilon", "0.1", "--by", "points")),
}
CURVED = {"links, curves": (LINKS + CPU + GPU, ())}


def judged(evener, *words):
    said = evener("evaluate", *words, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)


def same(one, other):
    for key in ("verdict", "holds", "seconds", "bound", "bottleneck", "edge_cut", "unused"):
        assert one[key] == other[key], key


@pytest.mark.parametrize("name", slow_but([*CASES, *CURVED], "links", "memory"))
def test_nothing_disagrees(name, evener, tmp_path):
    text, options = {**CASES, **CURVED}[name]
    machine, mesh, made = (tmp_path / name for name in ("machine.toml", "wing.su2", "wing.plan"))
    machine.write_text(text)
    if name in CURVED:
        speeds = tmp_path / "speeds.toml"
        curves = CURVE.format("cpu", 2e-6, 3e-5, 4e-4) + CURVE.format("gpu", 1e-6, 4e-6, 9e-5)
        speeds.write_text(curves)
        options = (*options, "--speeds", speeds)
    assert evener("generate", "triangles", "--n", 500, "-o", mesh).code == 0
    said = evener("plan", mesh, "--machine", machine, *options, "-o", made, "--json")
    assert said.code == 0, said.err
    plan = json.loads(said.out)
    assert plan["holds"]
    same(plan, judged(evener, mesh, made))  # the plan's own machine
    for to in ("metis", "scotch", "csv", "json", "npz"):
        out = tmp_path / f"wing.{to}"
        assert evener("export", made, mesh, "--to", to, "-o", out).code == 0
        same(plan, judged(evener, mesh, out, "--as", made))
    given = ("--machine", machine, *(["--speeds", speeds] if name in CURVED else []))
    for to in ("json", "npz"):  # these carry kernel, contract and way of reading
        same(plan, judged(evener, mesh, tmp_path / f"wing.{to}", *given))
    same(plan, judged(evener, mesh, made, *given))
    if not options:  # as plan would judge
        same(plan, judged(evener, mesh, tmp_path / "wing.metis", *given))
    again = evener("replay", made, mesh)
    assert again.code == 0, again.err
    page = evener("report", made, mesh, "-o", tmp_path / "x.html", "--json")
    assert json.loads(page.out)["verdict"] == plan["verdict"]
