"""What docs/architecture.md and CONTRIBUTING.md say of the code: the walk, the recipes, rules."""

import ast
import gc
import importlib.util
import inspect
import re
import sys
import threading
import types
from collections import defaultdict
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.graphs.graph import Graph
from evener.partitioning.external.children import Outcome

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src" / "evener", ROOT / "tests"
MODULES = sorted(SOURCE.rglob("*.py"))
MACHINE = """
[[level]]
name = "net"
alpha_us = 1.0
GB_per_s = 5.0

[[device]]
name = "cpu"
count = 3
speed = 2e7

[[device]]
name = "gpu"
speed = 1.2e8
"""
# Rooms that do something; the others hold values, which every room uses.
VERBS = ("io", "sizing", "partitioning", "running", "measuring", "planning", "rebalancing",
         "reporting", "integrations")  # fmt: skip


def script(name):
    """Return docs/images/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "images" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WALK = script("rooms").walk()


@pytest.fixture
def files(tmp_path):
    """A graph, a machine with links, and the name of a plan."""
    return files_in(tmp_path)


def files_in(folder):
    rows, columns = np.divmod(np.arange(400), 20)
    right, down = np.flatnonzero(columns < 19), np.flatnonzero(rows < 19)
    ends = np.r_[right, down], np.r_[right + 1, down + 20]
    graph = Graph.from_edges(400, *ends, coords=np.column_stack([rows, columns]).astype(float))
    ev.write_graph(folder / "grid.npz", graph)
    (folder / "machine.toml").write_text(MACHINE)
    return [str(folder / name) for name in ("grid.npz", "machine.toml", "grid.plan")]


def planned(files, *more):
    graph, machine, output = files
    return ["plan", graph, "--machine", machine, "-o", output, "--preset", "fast", *more]


# The walk.


class Calls:
    """The calls of Evener's functions while it is traced: (caller, called) by dotted names."""

    def __init__(self):
        self.found = []

    def __call__(self, frame, event, _):
        # Functions within functions were handed on, to be called back.
        is_callback = "<locals>" in frame.f_code.co_qualname
        if event == "call" and not is_callback and (called := _name(frame)) is not None:
            back = frame.f_back
            while back is not None and _name(back) is None:
                if back.f_code.co_name == "<module>":  # called while a module is imported
                    return
                back = back.f_back
            self.found.append((back and _name(back), called))

    def run(self, words):
        """Run a command on this thread and those it starts; return its exit code."""
        gc.collect()  # generators that tests before left unfinished are entered when they end
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            return main(words)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def _name(frame):
    """Return room.module.function of a frame of a room's function; None for any other frame."""
    code = frame.f_code
    path = code.co_filename.removeprefix(f"{SOURCE}/")
    is_function = code.co_flags & inspect.CO_OPTIMIZED  # else the body of a module or class
    if path == code.co_filename or "/" not in path or not is_function:
        return None
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{module}.{code.co_name}"


def room_of(name):
    return name.split(".")[0] if name else None


@pytest.fixture(scope="module", params=["cut", "seconds"])
def calls(request, tmp_path_factory):
    traced = Calls()
    words = planned(files_in(tmp_path_factory.mktemp("walk")), "--objective", request.param)
    assert main([*words, "--quiet"]) == 0  # compiles, which would take long while it is traced
    assert traced.run([*words, "--quiet"]) == 0
    return traced.found, request.param


def test_a_plan_goes_the_way_that_the_table_describes(calls):
    found, objective = calls
    first = {}
    for place, (_, called) in enumerate(found):
        first.setdefault(called, place)
    steps = [step for step in WALK if objective == "cut" or step.called in first]
    assert [step.called for step in steps if step.called not in first] == []
    if objective == "cut":
        assert sorted(steps, key=lambda step: first[step.called]) == steps
    else:  # the search makes blocks before it needs a contract of them
        assert {step.room for step in steps} == {step.room for step in WALK}
    for step in steps:
        callers = {room_of(caller) for caller, called in found if called == step.called}
        assert step.caller in callers, step


def test_no_room_is_entered_by_another_way(calls):
    """Between rooms that do something there are the calls of the table, and those of io.accept."""
    found, _ = calls
    ways = {(step.caller, step.room) for step in WALK}
    other = defaultdict(set)
    for caller, called in found:
        ends = room_of(caller), room_of(called)
        if ends[0] != ends[1] and ends[1] in VERBS and None not in ends and ends not in ways:
            other[ends].add(called)
    strange = {
        ends: names
        for ends, names in other.items()
        if not all(name.startswith("io.accept.") for name in names)
        and ends != ("planning", "cli")  # progress, which the command hands down
    }
    assert strange == {}


def test_rooms_entered_more_than_once_say_why():
    steps = defaultdict(list)
    for step in WALK:
        steps[step.room].append(step)
    for room, own in steps.items():
        if len(own) > 1:
            said = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text()))
            assert "A plan enters" in said, f"{room}/__init__.py does not say why"


def test_the_picture_is_up_to_date():
    rooms = script("rooms")
    assert rooms.updated() == rooms.PAGE.read_text(), "run `python docs/images/rooms.py`"


# The recipes: what docs/architecture.md says is enough really is.


def module_of(monkeypatch, name, **functions):
    module = types.ModuleType(name)
    for key, value in functions.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


def test_a_format_is_a_module_and_a_line(monkeypatch, tmp_path, files, capsys):
    from evener.io import formats

    def read(source):
        n = int(source.data.split()[1])
        return Graph.from_edges(n, np.arange(n - 1), np.arange(1, n))

    def write(graph):
        return f"PATH {graph.n}\n".encode(), ["edges"]

    module_of(
        monkeypatch, "evener.io.graphs.throwaway", read=read, write=write,
        recognises=lambda source: source.data.startswith(b"PATH "),
    )  # fmt: skip
    entry = formats.Format("path", "graph", "graphs.throwaway", (".path",), writes=True)
    monkeypatch.setattr(formats, "FORMATS", (entry, *formats.FORMATS))
    monkeypatch.setattr("evener.io.write.FORMATS", formats.FORMATS)
    (tmp_path / "line").write_text("PATH 90\n")
    assert ev.read(tmp_path / "line").format == "path"
    assert main(planned([str(tmp_path / "line"), *files[1:]])) == 0
    assert ev.read_plan(files[2]).partition.part.size == 90
    assert main(["convert", files[0], str(tmp_path / "grid.path")]) == 0
    assert (tmp_path / "grid.path").read_text() == "PATH 400\n"


def test_a_partitioner_is_a_function_and_an_entry(monkeypatch, files, capsys):
    from dataclasses import replace

    from evener.partitioning.tools import TOOLS

    def stripes(graph, request):
        ends = np.cumsum(request.targets) / request.targets.sum()
        places = (np.arange(graph.n) + 0.5) / graph.n
        return Outcome(np.searchsorted(ends, places).astype(np.int32), 0.0, "1", ("in order",))

    entry = replace(TOOLS["evener"], name="stripes", objectives=("cut",), run=stripes, several=None)
    monkeypatch.setitem(TOOLS, "stripes", entry)
    assert main(planned(files, "--objective", "cut", "--with", "stripes")) == 0
    plan = ev.read_plan(files[2])
    assert plan.certificate.holds.all()
    assert "in order" in plan.notes
    code = main(["compare", *planned(files)[1:4], "--with", "stripes,rcb", "--objective", "cut"])
    assert code == 0
    assert "stripes" in capsys.readouterr().out


def test_a_sizing_method_is_a_function_and_an_entry(monkeypatch):
    from evener.platforms.models.fitting import Constant
    from evener.sizing import solving
    from evener.sizing.problems import make_problem

    answers = type(solving.METHODS["constant"](make_problem([Constant(1.0)], 1, None, None)))

    def all_to_the_last(problem):
        return answers(np.array([0, 0, 12], np.int64))

    monkeypatch.setitem(solving.METHODS, "last", all_to_the_last)
    found = ev.solve_sizes([Constant(1.0)] * 3, 12, "last")
    assert found.sizes.tolist() == [0, 0, 12]
    assert found.makespan == pytest.approx(12.0)


def test_a_timed_kernel_is_a_class_and_an_entry(monkeypatch):
    from dataclasses import replace

    from evener.measuring import kernels
    from evener.measuring.benchmark import benchmark
    from evener.measuring.cpu import Axpy

    module_of(monkeypatch, "evener.measuring.throwaway", Half=type("Half", (Axpy,), {}))
    homes = {"cpu": "evener.measuring.throwaway:Half"}
    entry = replace(kernels.KERNELS["axpy"], homes=homes)
    monkeypatch.setitem(kernels.KERNELS, "half", entry)
    assert benchmark(kernels.make_kernel("half"), 1000).sample.load == 1000


def test_a_command_is_a_module_and_an_entry(monkeypatch, capsys):
    from evener.cli.registry import COMMANDS, Command

    def run(args, out):
        out.say(f"{args.word} it is")
        return 0

    module_of(
        monkeypatch, "evener.cli.commands.throwaway", run=run,
        add_arguments=lambda parser: parser.add_argument("word"),
    )  # fmt: skip
    entry = Command("evener.cli.commands.throwaway", "says a word", "evener throwaway hello")
    monkeypatch.setitem(COMMANDS, "throwaway", entry)
    assert main(["throwaway", "hello"]) == 0
    assert "hello it is" in capsys.readouterr().out
    assert main(["--help"]) == 0
    assert "says a word" in capsys.readouterr().out


def test_every_option_of_plan_is_in_all_places():
    """The fields of PlanOptions are keywords, come from the command line and are explained."""
    from dataclasses import fields

    from evener.cli.parsing import parser_of
    from evener.planning import options
    from evener.reporting.provenance import OPTION_MEANINGS

    names = {field.name for field in fields(options.PlanOptions)}
    assert set(options.PlanKeywords.__annotations__) == names
    assert set(OPTION_MEANINGS) == names
    parser = parser_of("plan")
    given = {action.dest for action in parser._actions}
    assert names - {"workload"} <= given  # that of several options: WorkloadOptions


def test_paths_on_the_page_are_there():
    """Modules and functions named in docs/architecture.md exist."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    for path in re.findall(r"`([\w/]+\.(?:py|toml|md))`", page):
        assert any((base / path).exists() for base in (ROOT, SOURCE)), path
    for step in WALK:
        module, _, function = step.called.rpartition(".")
        assert callable(getattr(importlib.import_module(f"evener.{module}"), function)), step


def test_files_that_a_package_names_are_there():
    """Files and rooms named in the docstring of an __init__.py exist.

    In that room, the one above, src/evener, benchmarks, or the root of the repository.
    """
    missing = []
    for path in SOURCE.rglob("__init__.py"):
        room = path.parent
        homes = (room, room.parent, SOURCE, ROOT / "benchmarks", ROOT)
        said = ast.get_docstring(tree_of(path)) or ""
        names = re.findall(r"(?<![\w/.*\]-])([\w/]+(?:\.py\b|/(?!\w)))", said)
        gone = [name for name in names if not any((home / name).exists() for home in homes)]
        missing += [f"{path.relative_to(SOURCE)} names {name}" for name in gone]
    assert missing == []


# The rules that no linter checks. Parsing all files takes seconds: only those are parsed of which
# the text leaves the question open, and what is asked of all is read from compiled files.


@cache
def text_of(path):
    return path.read_text()


@cache
def tree_of(path):
    return ast.parse(text_of(path))


@cache
def imported_by(path):
    """Return the dotted names of all that a file imports."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def functions_of(path):
    """Yield the code of all functions in a file, with those inside others."""
    waiting = [SourceFileLoader("compiled", str(path)).get_code("compiled")]
    while waiting:
        code = waiting.pop()
        waiting += [one for one in code.co_consts if isinstance(one, types.CodeType)]
        if code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<"):
            yield code


def test_numba_is_named_by_kernels_alone():
    other = {"jit.py", "cli/precompile/compiler.py"}
    other |= {f"machine_code/{name}.py" for name in ("cache", "clock", "packs")}
    for path in MODULES:
        name = path.relative_to(SOURCE).as_posix()
        if not name.endswith("_kernels.py") and name not in other and "numba" in text_of(path):
            roots = {one.split(".")[0] for one in imported_by(path)}
            assert not roots & {"numba", "numba_cuda"}, name


# Functions that take more arguments than others may, each with the reason.
MANY_ARGUMENTS = {
    "io.read.read": "public; a keyword for each thing that a file may need",
    "io.plans.partitions.part_pieces": "as write_part, whose bytes it makes",
    "io.plans.partitions.write_part": "public; a keyword for each thing that a format may need",
    "sizing.tiling.methods.tile": "public; a keyword for each option of a method",
    "partitioning.refine.refine": "public; a keyword for each choice",
    "cli.commands.generate._stream_graph": "an option for each parameter of the paper",
}


def test_kernels_take_at_most_12_arguments_and_other_functions_8():
    found = {}
    for path in MODULES:
        most = 12 if path.name.endswith("_kernels.py") else 8
        module = path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
        for code in functions_of(path):
            count = code.co_argcount + code.co_kwonlyargcount
            if count > most + (code.co_varnames[:1] in (("self",), ("cls",))):
                found[f"{module}.{code.co_name}"] = count
    assert {name: found[name] for name in found if name not in MANY_ARGUMENTS} == {}
    assert set(MANY_ARGUMENTS) <= set(found)  # the list has no more names than it must


def test_the_makefile_names_tests_that_are_there():
    text = (ROOT / "Makefile").read_text()
    for name in re.findall(r"tests/[\w/]+(?:\.py)?(?:::\w+)?(?![\w*])", text):
        path, _, function = name.partition("::")
        assert (ROOT / path).exists(), name
        assert not function or f"def {function}(" in (ROOT / path).read_text(), name


def test_six_loose_modules():
    loose = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert loose == {"arrays", "arrays_kernels", "errors", "jit", "threads", "wording"}


def test_no_two_public_classes_have_one_name():
    homes = defaultdict(list)
    for path in MODULES:
        for name in re.findall(r"^class ([^\W_]\w*)", text_of(path), re.MULTILINE):
            homes[name].append(path.relative_to(SOURCE).as_posix())
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


# Modules that no test file of their room has the name of, or imports: what tests them instead.
TESTED_BY = {
    "sliced/rows.py": "sliced/test_whole.py",
    "measuring/cuda_product.py": "measuring/test_cuda.py",
    "measuring/cuda_streamed.py": "measuring/test_cuda.py",
    "__main__.py": "cli/test_streams.py",  # by every test that starts `python -m evener`
    "cli/": "cli/commands",  # options, through the commands that have them
    "graphs/generating/checks.py": "graphs/generating/test_families.py",
    "graphs/graph_checks.py": "graphs/test_graph.py",
    "io/dataflow/": "io/dataflow/test_reading.py",  # formats, through `read_stream_graph`
    "io/graphs/": "io/graphs",  # formats, through `read`
    "io/meshes/": "io/meshes",  # formats, through `read`
    "io/plans/promises.py": "io/plans/test_plan.py",
    "io/machines/platform_keys.py": "io/machines/test_platforms.py",
    "io/machines/toml": "io/machines",  # through the files written in TOML
    "measuring/child.py": "measuring/test_together.py",  # the process at the other end
    "measuring/messages.py": "measuring/test_together.py",
    "partitioning/tools.py": "partitioning/test_registry.py",
    "partitioning/external/": "partitioning/external/test_children.py",  # they run in children
    "partitioning/repair/flowing.py": "partitioning/test_enforce.py",
    "planning/makespan/": "planning/makespan/test_search.py",  # steps, through the whole search
    "planning/slice_blocks.py": "planning/test_plan_slices.py",
    "plans/advice.py": "planning/advise",
    "plans/stream_plan.py": "io/plans/test_stream_plan.py",
    "plans/plan.py": "io/plans/test_plan.py",
    "platforms/device.py": "platforms/test_platform.py",
    "platforms/shared_links.py": "plans/test_exchange_costs.py",
    "rebalancing/": "rebalancing/test_rebalancer.py",  # through Rebalancer and its decisions
    "reporting/": "reporting/test_html.py",  # sections and pictures, through the page
    "sizing/tiling/": "sizing/tiling",  # through `tile`
}


def has_test(path, tests):
    """Return whether a module has a test file by name, its own or its package's, or a test file
    of its room imports it.
    """
    name = path.relative_to(SOURCE)
    folder = name.parent
    own = {
        f"{folder}/test_{path.stem}",
        f"{folder}/test_{folder.name}",
        f"{folder.parent}/test_{folder.name}",
    }
    module = "evener." + name.with_suffix("").as_posix().replace("/", ".")
    room = name.parts[0]
    for test in tests:
        if any(f"{test.with_suffix('')}".startswith(one.removeprefix("./")) for one in own):
            return True
    beside = [TESTS / test for test in tests if test.parts[0] == room]
    return any(path.stem in text_of(one) and module in imported_by(one) for one in beside)


def test_every_module_has_a_test():
    tests = [path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")]
    for name, test in TESTED_BY.items():
        assert (TESTS / test).exists(), f"{name} is tested by {test}, which is gone"
    missing = []
    for path in MODULES:
        name = path.relative_to(SOURCE).as_posix()
        is_listed = any(name.startswith(one) for one in TESTED_BY)
        if path.name != "__init__.py" and not name.endswith("_kernels.py") and not is_listed:
            missing += [] if has_test(path, tests) else [name]
    assert missing == []
