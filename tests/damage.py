"""Files damaged at random, read and then used: whatever is read must do everywhere.

    python -m tests.damage plans 3000        # kinds: plans, decisions, speeds, surfaces

Each case is made from its number alone. A command may refuse a file; it must not end with 1, which
is a mistake of ours, nor write what it does not read.
"""

import io
import json
import os
import re
import sys
import tempfile
import time
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

from evener.cli import main
from evener.errors import EvenerError
from evener.io.machines.speeds import read_speeds, write_speeds
from evener.io.machines.surfaces import read_surfaces, write_surfaces
from evener.io.plans.manifest import manifest
from evener.io.plans.plan import read_plan, write_plan
from evener.io.write import write_graph
from evener.reporting.html import report
from tests.assertions import grid

NUMBERS = [0, 1, -1, 2, 3, 7, 0.5, -0.0, 1e-320, 1e-30, 1e30, 1e308, -1e308, 2**31, 2**53, 2**63,
           2**70, float("nan"), float("inf"), -float("inf")]  # fmt: skip
VALUES = [*NUMBERS, None, True, False, "", "x", "é\u202e\x1b[2J\n", "a" * 5000, "<script>",
          "$\\frac$", "_x", [], {},
          [[]], [1, "a"], {"a": {"b": None}}, [1.5, 2.5, 3.5], [[1, 2], [3]]]  # fmt: skip


def damaged_json(value, rng):
    """Return the value with one entry somewhere in it replaced, removed, repeated or moved."""
    path, inner = [], value
    while isinstance(inner, dict | list) and inner and (not path or rng.random() < 0.75):
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        path.append(keys[int(rng.integers(len(keys)))])
        inner = inner[path[-1]]
    table = value
    for key in path[:-1]:
        table = table[key]
    key, turn = path[-1], rng.random()
    if turn < 0.15:
        del table[key]
    elif turn < 0.25 and isinstance(table, list):
        table.insert(key, table[key])
    elif turn < 0.35 and isinstance(inner, int | float) and not isinstance(inner, bool):
        table[key] = inner * [-1, 1e-9, 0.5, 3, 1e9][int(rng.integers(5))]
    elif turn < 0.4 and isinstance(inner, dict):
        inner[str(rng.integers(9))] = 1
    else:
        table[key] = VALUES[int(rng.integers(len(VALUES)))]
    return value


def damaged_array(array, rng):
    """Return the array of another shape, type or content."""
    array = np.atleast_1d(array)
    n = array.size
    turn = int(rng.integers(9))
    if turn == 0:
        return array[: int(rng.integers(n + 1))]
    if turn == 1:
        return np.concatenate([array, array[: int(rng.integers(1, 4))]])
    if turn == 2:
        return array.reshape((1, n))
    if turn == 3:
        types = [
            np.float64,
            np.float16,
            np.int8,
            np.uint64,
            np.bool_,
            "U5",
            "S3",
            ">i4",
            np.complex64,
        ]
        return array.astype(types[int(rng.integers(len(types)))])
    if turn == 4:
        return np.asarray(VALUES[int(rng.integers(len(NUMBERS)))])
    if n == 0:
        return np.array([0, 1])
    changed = array.astype(np.float64) if turn in (5, 6) else array.copy()
    some = rng.integers(0, n, int(rng.integers(1, 4)))
    if turn in (5, 6):
        changed[some] = NUMBERS[int(rng.integers(len(NUMBERS)))]
    else:
        changed[some] = rng.integers(-3, 9, some.size)
    return changed


def npy(array):
    content = io.BytesIO()
    np.lib.format.write_array(content, np.asarray(array))
    return content.getvalue()


class Plans:
    """Plan files, with what a plan may have; used by all commands that take one."""

    def __init__(self, folder):
        self.folder, self.graph, self.file = folder, folder / "g.graph", folder / "x.plan"
        write_graph(self.graph, grid(5, 6))
        (folder / "m.toml").write_text(MACHINE)
        words = ["plan", self.graph, "--machine", folder / "m.toml", "--versus", "metis"]
        self.whole, self.turn = [], 0
        for more in (["--objective", "cut"], []):
            assert quietly(*words, *more, "-o", self.file)[0] == 0
            with zipfile.ZipFile(self.file) as archive:
                self.whole.append({name: archive.read(name) for name in archive.namelist()})

    def make(self, rng):
        members = dict(self.whole[int(rng.integers(2))])
        for _ in range(int(rng.integers(1, 3))):
            if rng.random() < 0.75:
                text = str(np.lib.format.read_array(io.BytesIO(members["manifest.npy"])))
                data = damaged_json(json.loads(text), rng)
                members["manifest.npy"] = npy(json.dumps(data))
            else:
                name = ["part", "sender", "receiver", "values"][int(rng.integers(4))]
                array = np.lib.format.read_array(io.BytesIO(members[f"{name}.npy"]))
                members[f"{name}.npy"] = npy(damaged_array(array, rng))
        with zipfile.ZipFile(self.file, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)

    def use(self):
        """Write what is read, and show it; of the commands, some in turn."""
        graph, file, out, machine = (
            self.graph,
            self.file,
            self.folder / "out",
            self.folder / "m.toml",
        )
        commands = [
            ["report", file, graph, "-o", out], ["replay", file, graph],
            ["export", file, "--to", "csv", "-o", out, "--force"],
            ["export", file, graph, "--to", "json", "-o", out, "--force"],
            ["evaluate", graph, file, "--machine", machine],
            ["evaluate", graph, file, "--as", file],
            ["refine", graph, file, "--machine", machine, "-o", out],
            ["report", file, "-o", out],
        ]  # fmt: skip
        self.turn += 1
        try:
            plan = read_plan(file)
        except EvenerError:
            commanded(*commands[self.turn % 8])
            return
        write_plan(out, plan)
        assert manifest(read_plan(out)) == manifest(plan)
        assert report(plan)
        for i in (0, 1, 2 + self.turn % 6):
            commanded(*commands[i])


class Decisions:
    """Files of decisions of a rebalanced program."""

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "x.jsonl"
        _rebalance(self.file)
        self.lines = [json.loads(line) for line in self.file.read_text().splitlines()]

    def make(self, rng):
        lines = json.loads(json.dumps(self.lines))
        for _ in range(int(rng.integers(1, 3))):
            lines = damaged_json(lines, rng) if rng.random() < 0.3 else lines
            if not lines:
                break
            i = 0 if rng.random() < 0.4 else int(rng.integers(len(lines)))
            if isinstance(lines[i], dict) and lines[i]:
                lines[i] = damaged_json(lines[i], rng)
        text = "".join(json.dumps(line) + "\n" for line in lines)
        self.file.write_text(text.replace("\\u001b", "\x1b") if rng.random() < 0.05 else text)

    def use(self):
        commanded("report", self.file, "-o", self.folder / "out")
        commanded("replay", self.file)


class Toml:
    """Files of speeds, or of surfaces: words and numbers of the text are changed."""

    text: str

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "x.toml"
        (folder / "m.toml").write_text(MACHINE.replace('"a"', '"b"'))

    def make(self, rng):
        text = self.text
        for _ in range(int(rng.integers(1, 4))):
            found = list(re.finditer(r"[\w.+-]+|[\[\]{}=\",\n]", text))
            one = found[int(rng.integers(len(found)))]
            words = [str(x) for x in NUMBERS] + [
                r"'$\frac$'",
                "'_'",
                '"x"',
                "[]",
                "true",
                "",
                "[",
                "]",
                "samples",
                "1e9",
            ]
            word = words[int(rng.integers(len(words)))]
            if rng.random() < 0.3:
                word = found[int(rng.integers(len(found)))][0]
            text = text[: one.start()] + word + text[one.end() :]
        self.file.write_text(text)

    def use(self):
        file, out = self.file, self.folder / "out"
        try:
            write, held = self.held()
        except EvenerError:
            held = None
        if held is not None:
            write(out, held)
        commanded("models", file, "--load", "50")
        if held is not None:
            commanded("models", file, "--plot", self.folder / "out.svg")
        self.divide(file)


class Speeds(Toml):
    text = """[[device]]
name = "b"
model = "akima"
unit = "rows"
capacity = 1000
samples = [[10, 0.1], [20, 0.3, "ok"], [40, 0.9], [90, 2.5], [200, 9.0], [300, 1e3]]

[[device]]
name = "c"
fixed_seconds = 0.01
samples = [[10, 0.2], [100, 1.0]]
"""

    def held(self):
        return write_speeds, read_speeds(self.file)

    def divide(self, file):
        commanded("sizes", "--speeds", file, "--n", "100")
        commanded("tile", "--speeds", file, "--size", "12")


class Surfaces(Toml):
    text = """[[surface]]
name = "b"
heights = [4, 8, 16]
widths = [4, 8]
seconds = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.9]]
capacity = 400

[[surface]]
name = "c"
heights = [4, 8]
widths = [4]
speeds = [[10.0], [12.5]]
"""

    def held(self):
        return write_surfaces, read_surfaces(self.file)

    def divide(self, file):
        commanded("tile", "--speeds", file, "--size", "12")


KINDS = {"plans": Plans, "decisions": Decisions, "speeds": Speeds, "surfaces": Surfaces}
MACHINE = """[[device]]
name = "a"
at = "n0"
speed = 2.0
memory_GiB = 1
[[device]]
name = "b"
at = "n0"
speed = 1.0
[[device]]
name = "c"
at = "n1"
speed = 3.0
[[level]]
name = "node"
alpha_us = 5
GB_per_s = 1
[[level]]
name = "core"
alpha_us = 1
GB_per_s = 10
"""


def _rebalance(file):
    """Write the decisions of a program whose second device becomes slow."""
    import evener as ev

    graph = grid(10, 12)
    plan = ev.plan(graph, ev.Platform.flat([1, 1, 2]))
    with ev.Rebalancer(plan, graph, log=file) as balancer:
        for turn in range(12):
            slow = 1.0 if turn < 4 else 3.0
            times = plan.certificate.weights / np.array([1, 1 / slow, 2]) * 1e-3
            balancer.observe(times.tolist())


def quietly(*words):
    """Run evener; returns its exit code and what it said."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(out):
        code = main([str(word) for word in words])
    return code, out.getvalue()


def commanded(*words):
    """Run evener; returns its exit code, which must not be 1."""
    began = time.perf_counter()
    code, said = quietly(*words)
    if code == 1:
        code, said = quietly(*words, "--debug")
        raise AssertionError(f"{' '.join(map(str, words))}\n{said}")
    assert "Traceback" not in said
    if code:
        error = said[said.rfind("evener: ") :]
        assert len(error.splitlines()) <= 3, error
    assert time.perf_counter() - began < 30
    return code


def tried(kind, numbers, folder):
    """Damage and use a file of this kind for each number; returns what failed, number by number."""
    subject, failed = KINDS[kind](folder), {}
    for number in numbers:
        subject.make(np.random.default_rng([hash_of(kind), number]))
        try:
            subject.use()
        except Exception as error:
            failed[number] = f"{type(error).__name__}: {error}"
    return failed


def hash_of(kind):
    return sum(map(ord, kind))


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("error")
    chosen, most = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        faults = tried(chosen, range(first, first + most), Path(name))
    kinds = {}
    for number, fault in faults.items():
        kinds.setdefault(fault.splitlines()[-1][:160], []).append((number, fault))
    for last, cases in kinds.items():
        print(f"== {len(cases)} x {last}\n{cases[0][0]}: {cases[0][1][-1800:]}")
    print(f"{chosen}: {most} cases, {len(faults)} failed")
