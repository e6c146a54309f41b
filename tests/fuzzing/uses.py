"""What is done with a changed file: it is read and, where that is accepted, used.

A use is a command, or a public function, on the file as `x` beside the samples it goes with. It is
to end with one of the exit codes there are, with at most three lines of error, and to print and
write nothing that moves a cursor or turns text round.
"""

import contextlib
import io
import json
import re
from pathlib import Path

import numpy as np

import evener as ev
from evener.cli import main
from evener.cli.described_machines import PER
from evener.errors import EvenerError
from evener.io.formats import FORMATS
from evener.io.machines.platforms import read_platform, write_platform
from evener.io.machines.speeds import read_speeds, write_speeds
from evener.io.machines.surfaces import read_surfaces, write_surfaces
from evener.io.plans.manifest import manifest
from evener.io.plans.plan import read_plan, write_plan
from evener.measuring.journal import Journal
from evener.wording import without_marks

CODES = (0, 2, 3, 4, 5)
EXPORTS = ("metis", "scotch", "npy", "csv", "json", "binary")
WITH_ARCS = ("x.mtx", "x.csv", "x.npz", "x.edges.gz")
WRITTEN = ("x.graph", "x.ecsr", "x.grf", "x.mtx", "x.csv", "x.npz", "x.edges.gz")
FAST = ("--preset", "fast", "--threads", "1")
MACHINE = ("--machine", "machine.toml")
APPS = ("bfs", "wcc", "pagerank")
EDGE_APPS = (*APPS, "kcore")


class FoundError(AssertionError):
    """Something that must not happen."""


def run(*words):
    """Run a command; return its exit code. Raises FoundError."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    said = f"evener {' '.join(map(str, words))}: exit {code}\n{out.getvalue()}{err.getvalue()}"
    if code not in CODES or "bug in evener" in err.getvalue():
        raise FoundError(f"{said}\n{_traceback(words)}")
    if code:
        _check_error(err.getvalue(), said)
    for text in (out.getvalue(), err.getvalue()):
        odd = [c for c in text if not (c.isprintable() or c == "\n")]
        if odd:
            raise FoundError(f"prints {odd[0]!r}: {said[:3000]!r}")
    return code


def _traceback(words):
    err = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        main([*(str(word) for word in words), "--debug"])
    return err.getvalue()[-6000:]


def _check_error(text, said):
    lines = text[text.rfind("evener: ") :].rstrip("\n").split("\n")
    if not text.count("evener: ") or len(lines) > 3:
        raise FoundError(f"an error of {len(lines)} lines: {said[:3000]}")
    if max(map(len, lines)) > 1000 or "needs more memory" in text:
        raise FoundError(f"an error too long, or of memory: {said[:3000]}")
    if re.search(r"(?<!\w)b?'[^']{70,}'(?!\w)", "\n".join(lines)):
        raise FoundError(f"a long quotation: {said[:3000]}")


def use(kind, name, random):
    """Read and use the file `name` of a kind in the current folder; a random choice of its uses."""
    chosen = {
        "graph": _graph, "mesh": _graph, "meshio": _graph, "real": _real, "foam": _foam,
        "foam-binary": _foam,
        "coords": _coords, "weights": _weights, "part": _part, "plan": _plan,
        "edge-plan": _edge_plan, "stream": _stream,
        "machine": _machine, "kernel": _kernel, "speeds": _speeds, "surface": _surface,
        "trace": _trace, "decisions": _decisions, "journal": _journal,
        "description": _description,
    }  # fmt: skip
    chosen[kind](name, random)


def _graph(name, random):
    options = ["--by", random.choice(("cells", "points"))]
    if random.random() < 0.2:
        options += ["--format", random.choice(FORMATS).name]
    if random.random() < 0.4:
        options.append("--directed")
    if run("info", name, *options, *random.choice(([], ["--json"]))):
        return
    uses = (_planned, _planned, _converted, _judged, _fitted, _divided)
    random.choice(uses)(name, options, random)


def _stream(name, random):
    """A stream graph is written in another format, read again, and mapped."""
    target = random.choice(("x.toml", "x.dot", "x.graphml"))
    if run("convert", name, target, "--stream"):
        return
    if random.random() < 0.5 and run("convert", target, "y.toml"):
        raise FoundError("a stream graph that was written is not read")
    if random.random() < 0.2:
        method = random.choice(("greedy", "list", "round-robin", "random"))
        more = random.choice(([], ["--gpu-behind-host"]))
        run("map", target, "--machine", "hosted.toml", "--method", method, *more, "-o", "x.plan")


def _planned(name, options, random):
    machine = random.choice((MACHINE, ("--k", "3"), ("--speeds", "1,1,4")))
    more = random.choice(([], ["--kernel", "spmv"], ["--connected"], ["--objective", "cut"],
                          ["--with", "rcb"], ["--with", "metis"], []))  # fmt: skip
    report = random.choice(([], ["--report", "x.html"]))
    if run("plan", name, *options, *machine, *more, *report, *FAST, "-o", "x.plan") == 0:
        _check_page("x.html" if report else None)
        if run("replay", "x.plan", name):
            raise FoundError("a plan is not replayed")
        _written_again("x.plan")
        _exported("x.plan", name, random)
        _as_msh(name, random)
        if random.random() < 0.3:
            app = random.choice(APPS)
            if run("run", "x.plan", name, "--app", app, "--verify"):
                raise FoundError("a plan is not run")


def _divided(name, options, random):
    """Edges of a graph file are divided; the plan is made again, judged and shown."""
    kind = ["--as", random.choice(("graph", "arcs", "matrix"))]
    more = random.choice(([], [], ["--weighted"]))
    method = ["--method", random.choice(("spac", "spac-ring", "dbh", "greedy", "order"))]
    machine = random.choice((MACHINE, ("--k", "3")))
    words = [*kind, *more, *method, *options, *machine, "--preset", "fast"]
    if run("split", name, *words, "-o", "x.plan"):
        return
    if run("replay", "x.plan", name) or run("evaluate", name, "x.plan"):
        raise FoundError("an edge plan is not made again, or not judged")
    if run("report", "x.plan", name, "-o", "x.html") == 0:
        _check_page("x.html")


def graph_of_edges(name):
    """Return the name of the graph whose edges the plan `name` divides."""
    return "lines.edges" if "lines" in name else "grid.graph"


def _edge_plan(name, random):
    graph = graph_of_edges(name)
    if run(
        "export",
        name,
        "--to",
        random.choice(("metis", "npy", "csv", "json")),
        "-o",
        "x.part",
        "--force",
    ):
        return
    run("evaluate", graph, name)
    run("evaluate", "grid.graph", "x.part", "--edges", *MACHINE)
    beside = random.choice(([], [graph]))
    if run("report", name, *beside, "-o", "x.html") == 0:
        _check_page("x.html")
    if random.random() < 0.3:
        run("replay", name, graph)
    if random.random() < 0.3:
        app = random.choice(EDGE_APPS)
        run(
            "run",
            name,
            graph,
            "--app",
            app,
            "--report",
            "x.html",
            *random.choice(([], ["--emulate"])),
        )


def _converted(name, options, random):
    directed = "--directed" in options
    target = random.choice(WITH_ARCS if directed else WRITTEN)
    if run("convert", name, target, *options) == 0:
        before = ev.read_graph(name, **_reading(options))
        if not before.m and (".csv" in target or ".edges" in target):
            return  # a list of none
        after = ev.read_graph(target, directed=directed)
        # Lists of edges hold no vertices without any.
        listed = ".csv" in target or ".edges" in target
        count = before.n - (before.isolated.size if listed else 0)
        if (after.n, after.m) != (count, before.m):
            raise FoundError(f"{target}: {after.n}, {after.m} for {count}, {before.m}")


def _reading(options):
    given = {"by": options[1], "directed": "--directed" in options}
    return given | ({"format": options[3]} if "--format" in options else {})


def _judged(name, options, random):
    n = ev.read_graph(name, **_reading(options)).n
    np.savetxt("x.part", np.arange(n) % 3, fmt="%d")
    run("evaluate", name, "x.part", *options, *MACHINE)
    run("refine", name, "x.part", *options, *MACHINE, "-o", "y.part")


def _fitted(name, options, random):
    run("fits", name, *options, *MACHINE)
    run("sizes", "--graph", name, *(options if "--format" not in options else []), *MACHINE)


def _real(name, random):
    if run("info", name) == 0 and random.random() < 0.1:
        run("plan", name, *MACHINE, *FAST, "--with", "rcb", "-o", "x.plan")


def _foam(name, random):
    folder = Path(name).parent.name
    to = random.choice(("vtu", "pvtu", "openfoam"))
    if (
        run("info", folder, "--by", random.choice(("cells", "points"))) == 0
        and run("plan", folder, "--k", "2", *FAST, "-o", "x.plan") == 0
    ):
        run("export", "x.plan", folder, "--to", to, "-o", f"x.{to}", "--force")


def _coords(name, random):
    if run("info", "three.graph", "--coords", name) == 0:
        run("plan", "three.graph", "--coords", name, "--k", "2", *FAST, "-o", "x.plan",
            "--report", "x.html")  # fmt: skip
        _check_page("x.html")


def _weights(name, random):
    column = random.choice(("", "", ":0", ":work", ":-1"))
    if run("info", "three.graph", "--weights", f"{name}{column}") == 0:
        run(
            "plan", "three.graph", "--weights", f"{name}{column}", "--k", "2", *FAST, "-o", "x.plan"
        )


def _part(name, random):
    if run("evaluate", "grid.graph", name, *MACHINE) == 0 and random.random() < 0.5:
        to = random.choice(EXPORTS)
        if run("refine", "grid.graph", name, *MACHINE, "--to", to, "-o", "y.part") == 0:
            run("evaluate", "grid.graph", "y.part", *MACHINE)


def _plan(name, random):
    if run("export", name, "--to", random.choice(EXPORTS), "-o", "x.part", "--force"):
        return
    run("evaluate", "grid.graph", name, *MACHINE)
    _written_again(name)
    graph = random.choice(([], ["grid.graph"]))
    if run("report", name, *graph, "-o", "x.html") == 0:
        _check_page("x.html")
    if random.random() < 0.3:
        run("replay", name, "grid.graph")
    _exported(name, "grid.graph", random)


def _as_msh(name, random):
    """Written as a .msh file, the mesh comes back with as many cells in each partition."""
    to = random.choice(("gmsh", "gmsh2"))
    if run("export", "x.plan", name, "--to", to, "-o", "divided.msh", "--force") == 0:
        sizes = np.bincount(read_plan("x.plan").partition.part)
        found = np.bincount(ev.read("divided.msh").mesh.cell_data["partition"])
        if found[1:].tolist() != sizes.tolist():
            raise FoundError(f"{to} does not bring partitions back")


def _exported(name, graph, random):
    """Written in some format, a partition comes back as it was."""
    to = random.choice(EXPORTS)
    plan = read_plan(name)
    if run("export", name, "--to", to, "-o", "x.part", "--force"):
        raise FoundError("a plan is not exported")
    if (ev.read_part("x.part", plan.partition.n) != plan.partition.part).any():
        raise FoundError(f"{to} does not bring a partition back")
    if to == "csv":
        text = Path("x.part").read_bytes().decode()
        if without_marks(text) != text or re.search(r"(?m),\"?[=+@\t\r]", text):
            raise FoundError(f"a field of CSV that is computed: {text[:500]!r}")


def _written_again(name):
    plan = read_plan(name)
    if not plan.verdict():
        raise FoundError("no verdict")
    write_plan("again.plan", plan)
    again = read_plan("again.plan")
    if _plain(manifest(again)) != _plain(manifest(plan)):
        raise FoundError("a plan does not come back")


def _plain(record):
    return json.dumps(record, sort_keys=True, default=str)


def _check_page(path):
    if path is None:
        return
    page = Path(path).read_text(encoding="utf-8")
    if without_marks(page) != page or "<script>x" in page:
        raise FoundError("a page that shows marks, or runs what a name says")


def _machine(name, random):
    if run("machine", "show", name, *random.choice(([], ["--json"]))):
        return
    platform = read_platform(name)
    write_platform("again.toml", platform)
    if read_platform("again.toml") != platform:
        raise FoundError("a machine does not come back")
    uses = (
        ["sizes", "--machine", name, "--n", "1000"],
        ["fits", "grid.graph", "--machine", name],
        ["tile", "--machine", name, "--size", "64", "--block", "16"],
        ["evaluate", "grid.graph", "grid.part", "--machine", name],
        ["refine", "grid.graph", "grid.part", "--machine", name, "-o", "x.part"],
        ["sizes", "--machine", name, "--speeds", "speeds.toml", "--n", "200"],
        ["advise", "grid.graph", "--machine", name, "--threads", "1"],
    )
    run(*random.choice(uses))
    if random.random() < 0.3 and platform.k <= 200:
        report = ["--report", "x.html"]
        if run("plan", "grid.graph", "--machine", name, *FAST, *report, "-o", "x.plan") == 0:
            _check_page("x.html")
            _written_again("x.plan")
            _exported("x.plan", "grid.graph", random)


def _description(name, random):
    """What describes a computer becomes a machine file, which is read and drawn."""
    kind = "slurm" if "slurm" in name else "here"
    per = ["--per", random.choice(PER)]
    if run("machine", kind, "--from", name, *per, "-o", "x.toml"):
        return
    platform = read_platform("x.toml")
    owned = [(device.node, core) for device in platform.devices for core in device.cores]
    gpus = sum(device.kind == "cuda" for device in platform.devices)
    if len(owned) - len(set(owned)) > gpus:  # GPUs may share a core where there are few
        raise FoundError("a core has several devices")
    run("machine", "show", "x.toml")
    run("machine", kind, "--from", name, *per, "--json")
    if platform.k <= 100:
        run("sizes", "--machine", "x.toml", "--n", "1000")


def _kernel(name, random):
    wrong = run("evaluate", "grid.graph", "grid.part", *MACHINE, "--kernel", name)
    if not wrong and random.random() < 0.3:
        run("plan", "grid.graph", *MACHINE, "--kernel", name, *FAST, "-o", "x.plan")
        run("report", "x.plan", "-o", "x.html")
        _check_page("x.html")


def _speeds(name, random):
    load = random.choice(([], ["--load", "15"]))
    if run("models", name, *load):
        return
    devices = read_speeds(name)
    write_speeds("again.toml", devices)
    if read_speeds("again.toml") != devices:
        raise FoundError("speeds do not come back")
    uses = (
        ["sizes", "--speeds", name, "--n", random.choice(("50", "1000"))],
        ["sizes", "--speeds", name, *MACHINE, "--n", "60"],
        [
            "sizes",
            "--speeds",
            name,
            "--n",
            "100",
            "--method",
            random.choice(("npa", "gpa", "exact")),
        ],
        ["tile", "--speeds", name, "--size", "64", "--block", "16"],
        ["plan", "grid.graph", "--speeds", name, *FAST, "-o", "x.plan"],
        ["fits", "grid.graph", "--speeds", name],
        *([["models", name, "--plot", "x.svg"]] if random.random() < 0.1 else []),
    )
    chosen = random.choice(uses)
    if run(*chosen) == 0 and chosen[0] == "plan":
        _written_again("x.plan")
        run("report", "x.plan", "-o", "x.html")
        _check_page("x.html")


def _surface(name, random):
    if run("models", name):
        return
    surfaces = read_surfaces(name)
    write_surfaces("again.toml", surfaces)
    if read_surfaces("again.toml").keys() != surfaces.keys():
        raise FoundError("surfaces do not come back")
    run("tile", "--speeds", name, "--size", random.choice(("64", "200")), "--block", "8")
    if random.random() < 0.05:
        run("models", name, "--plot", "x.svg")


def _trace(name, random):
    more = []
    if name.endswith(".prv"):
        more = ["--loads", "10,20", *random.choice(([], ["--event", "7"], ["--iterations", "2"]))]
    if run("measure", "--trace", name, *more, "-o", "x.toml") == 0:
        run("models", "x.toml")
        run("sizes", "--speeds", "x.toml", "--n", "100")


def _decisions(name, random):
    if run("report", name, "-o", "x.html") == 0:
        _check_page("x.html")
    run("replay", name)


def _journal(name, random):
    try:
        journal = Journal(name, {"kernel": "spmv", "range": [1, 2]})
    except EvenerError as error:
        _check_error(f"evener: {error}", str(error))
        return
    journal.get("cpu0", 10)
    journal.close()
