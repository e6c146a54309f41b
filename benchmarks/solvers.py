"""Seconds on the wall of solvers whose ranks are unequal: equal blocks, tuned blocks, METIS's.

    python benchmarks/solvers.py [--cases cavity,motorbike,jacobi,vortex,vortex-openmp,...]
                                 [--slowed none,thief50,rival]
    python benchmarks/solvers.py --table     # what the result file says

Two ranks, each bound to a core; core 1 is made slower: thiefB/P is busy at real-time priority for B
of each P microseconds (a slower device; thiefB: of each 100), rival is another busy process (a
shared core, which is no slower device). `evener tune` starts from equal blocks. METIS gets the
speeds measured in all rounds and the tolerance of tuned plans, and is the better by cut of k-way
and recursive bisection. Then all plans are run in turn, equal blocks twice, which gives the null
pair: what the two differ by is noise; and the program on core 0 alone, which shows whether core 1
is worth using. A line has the wall seconds of mpirun of each run, the iterations of the linear
solvers, and the load of the computer.

cavity: OpenFOAM's icoFoam, 120,000 cells. motorbike: simpleFoam on the mesh of OpenFOAM's tutorial,
353,000 cells (--motorbike names its folder, meshed beforehand by blockMesh and snappyHexMesh).
jacobi: Fortran, solver_cases/jacobi.f90. vortex, vortex-odd, taylor-green: unmodified PyFR 3.1,
Euler on 64 x 64 and 65 x 65 squares and Navier-Stokes on 16^3 cubes, periodic, on OpenCL by pocl;
with -openmp on OpenMP; with -unlike rank 0 on OpenMP and rank 1 on OpenCL. `make test-integrations`
installs PyFR. Root, for the priority, Debian's openfoam, openmpi-bin, gfortran, gcc and
libxsmm-dev (for PyFR on OpenMP), and a quiet computer are needed. solver_cases/thief.c emulates the
slower device.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from records import answer_more, append, markdown, parser, words

import evener as ev
from evener.tuning.again import EPSILON
from evener.tuning.running import preloaded

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "solvers.jsonl"
CASES = HERE / "solver_cases"
MPIRUN = ["mpirun.openmpi", "--bind-to", "core", "--map-by", "core"]
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "WM_PROJECT_DIR": "/usr/share/openfoam",
}  # fmt: skip
EVENER = [sys.executable, "-m", "evener"]
METIS = ("metis", "metis-recursive")
LEFT_OUT = "better left out"  # in the reasons of `evener tune`
SETTLE = 1.0  # seconds between runs


def main():
    os.environ.update(ENVIRONMENT)
    sys.path.append(str(HERE.parent))  # the tests' cases
    made = parser(__doc__, RESULTS)
    made.add_argument("--cases", type=words, default=["cavity", "jacobi"])
    made.add_argument("--slowed", type=words, default=["thief50", "thief30", "rival", "none"])
    made.add_argument("--repeats", type=int, default=5)
    made.add_argument("--rounds", type=int, default=2, help="of `evener tune`")
    made.add_argument("--motorbike", type=Path, help="folder of the meshed case")
    made.add_argument("--cells", type=int, default=50, help="along an edge of the cavity")
    made.add_argument("--steps", type=int, default=16)
    made.when_small(cases=["jacobi"], slowed=["none"], repeats=1, steps=3)
    answer_more(made.parse_args(), measure, table)


def measure(args):
    for name in args.cases:
        with tempfile.TemporaryDirectory() as folder:
            case = KINDS[name](Path(folder), args)
            for slowed in args.slowed:
                append(args.output, measured(case, name, slowed, args))


def ran(command, folder, shell=False):
    done = subprocess.run(
        command, cwd=folder, shell=shell, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def evener(folder, *given):
    return ran([*EVENER, *map(str, given)], folder)


class Foam:
    """A case of OpenFOAM with a mesh, whose program takes its blocks from decomposePar."""

    graph, compiles = ".", False

    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        script = [
            "set -e", f"cd {shlex.quote(str(folder))}", "rm -rf processor*",
            f"{shlex.join(EVENER)} export $1 . --to openfoam --force --quiet",
            "decomposePar -force > log.decompose",
        ]  # fmt: skip
        (folder / "put.sh").write_text("\n".join(script) + "\n")

    @property
    def put(self):
        return f"sh {shlex.quote(str(self.folder / 'put.sh'))} {{plan}}"

    def command(self, k):
        return [*MPIRUN, "-n", str(k), self.program, "-parallel"]

    @property
    def alone(self):
        return ["taskset", "-c", "0", self.program]

    def iterations(self, text):
        return sum(map(int, re.findall(r"No Iterations (\d+)", text)))


def cavity(folder, args):
    from tests.integrations.cavity import write_case

    write_case(folder)
    n, delta = args.cells, 0.02 / args.cells
    change(folder / "system/blockMeshDict", "(20 20 1)", f"({n} {n} {n - 2})")
    change(folder / "system/blockMeshDict", "sides { type empty;", "sides { type wall;")
    text = (folder / "system/blockMeshDict").read_text().replace(" 0.1)", " 1)")
    (folder / "system/blockMeshDict").write_text(text)
    change(folder / "0/p", "sides { type empty; }", "sides { type zeroGradient; }")
    change(folder / "0/U", "sides { type empty; }", "sides { type noSlip; }")
    control = folder / "system/controlDict"
    control.write_text(re.sub(r"deltaT [^;]*", f"deltaT {delta}", control.read_text()))
    control.write_text(
        re.sub(r"endTime [^;]*", f"endTime {delta * (args.steps + 0.1)}", control.read_text())
    )
    control.write_text(re.sub(r"writeInterval [^;]*", "writeInterval 100000", control.read_text()))
    solution = folder / "system/fvSolution"
    solution.write_text(solution.read_text().replace("1e-12", "1e-6"))
    ran(["blockMesh"], folder)
    return Foam(folder, "icoFoam")


def motorbike(folder, args):
    if args.motorbike is None:
        raise SystemExit("motorbike needs --motorbike FOLDER, a meshed case")
    shutil.copytree(args.motorbike, folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "0", ignore_errors=True)  # what snappyHexMesh left
    shutil.copytree(folder / "0.orig", folder / "0")
    control = folder / "system/controlDict"
    control.write_text(re.sub(r"endTime\s+[^;]*", f"endTime {args.steps}", control.read_text()))
    return Foam(folder, "simpleFoam")


def change(path, old, new):
    text = path.read_text()
    if old not in text:
        raise RuntimeError(f"{path} has no {old!r}")
    path.write_text(text.replace(old, new))


class Jacobi:
    """Rows of a square, which a plan of a path of as many vertices divides."""

    graph, compiles = "rows.graph", False
    n, per_step = 3000, 40

    def __init__(self, folder, args):
        self.folder, self.sweeps = folder, self.per_step * args.steps
        ran(["mpif90.openmpi", "-O2", "-o", folder / "jacobi", CASES / "jacobi.f90"], folder)
        lines = [f"{self.n} {self.n - 1}"]
        lines += [" ".join(str(j) for j in (i - 1, i + 1) if 1 <= j <= self.n)
                  for i in range(1, self.n + 1)]  # fmt: skip
        (folder / self.graph).write_text("\n".join(lines) + "\n")

    @property
    def put(self):
        return (
            f"cd {shlex.quote(str(self.folder))} && {shlex.join(EVENER)} export {{plan}} "
            "--to metis -o rows.part --quiet"
        )

    def command(self, k):
        own = ["./jacobi", str(self.n), str(self.sweeps), "rows.part"]
        return [*MPIRUN, "-n", str(k), *own]

    @property
    def alone(self):
        (self.folder / "alone.part").write_text("0\n" * self.n)
        return [*self.command(1)[:-1], "alone.part"]

    def iterations(self, _):
        return self.sweeps


class Pyfr:
    """A case of PyFR, which takes its blocks from a partitioning in its mesh file."""

    graph, compiles = "m.pyfrm", True

    def __init__(self, folder, write_mesh, n, settings, steps, backends=("opencl", "opencl")):
        from tests.integrations.programs import python_beside
        from tests.integrations.pyfr_cases import pyfr_environment

        python = python_beside("pyfr", "pyfr")
        library = next(Path("/usr/lib").rglob("libOpenCL.so.1"))
        found = pyfr_environment(python, library, folder)
        del found["PATH"]  # the MPI in PATH remains that of other cases
        os.environ.update(found)
        if "openmp" in backends:
            ran(["gcc", "-O2", "-shared", "-fPIC", "-o", folder / "libxsmm.so", CASES / "xsmm.c",
                 "-Wl,-u,libxsmm_init,-u,libxsmm_finalize,-u,libxsmm_timer_tick",
                 "-l:libxsmm.a", "-l:libxsmmnoblas.a", "-lpthread", "-lm", "-ldl", "-lrt"],
                folder)  # fmt: skip
            os.environ["PYFR_XSMM_LIBRARY_PATH"] = str(folder / "libxsmm.so")
        self.folder, self.bin, self.steps = folder, python.parent, steps
        self.backends = backends
        write_mesh(folder / "m.msh", n)
        ran([self.bin / "pyfr", "import", "m.msh", self.graph], folder)
        delta = float(re.search(r"dt = (\S+)", settings)[1])
        end = delta * steps
        settings = re.sub(r"(tend|dt-out) = .*", rf"\1 = {end}", settings)
        (folder / "case.ini").write_text(settings)

    @property
    def put(self):
        return (
            f"cd {shlex.quote(str(self.folder))} && {shlex.join(EVENER)} export {{plan}} "
            f"{self.graph} --to pyfr --force --quiet"
        )

    def command(self, k, partitioning="evener"):
        made = [str(self.bin / "mpiexec"), "-bind-to", "core"]
        for backend in self.backends[:k]:
            pyfr = [str(self.bin / "pyfr"), "run", "-b", backend, "-P", partitioning]
            made += ["-n", "1", *pyfr, self.graph, "case.ini", ":"]
        return made[:-1]

    @property
    def alone(self):
        return self.command(1, "1")

    def iterations(self, _):
        return self.steps


def vortex(folder, args, side=64, **more):
    from tests.integrations.pyfr_cases import VORTEX, gmsh_square

    return Pyfr(folder, gmsh_square, side, VORTEX, 75 * args.steps, **more)


def taylor_green(folder, args, **more):
    from tests.integrations.pyfr_cases import TAYLOR_GREEN, gmsh_box

    return Pyfr(folder, gmsh_box, 16, TAYLOR_GREEN, 20 * args.steps, **more)


KINDS = {
    "cavity": cavity, "motorbike": motorbike, "jacobi": Jacobi, "vortex": vortex,
    "vortex-odd": partial(vortex, side=65), "taylor-green": taylor_green,
}  # fmt: skip
for name in ("vortex", "vortex-odd", "taylor-green"):
    KINDS[f"{name}-openmp"] = partial(KINDS[name], backends=("openmp", "openmp"))
    KINDS[f"{name}-unlike"] = partial(KINDS[name], backends=("openmp", "opencl"))


@contextmanager
def slowed_by(kind, folder):
    """Slow down core 1 while the body runs."""
    if kind == "none":
        yield
        return
    if kind == "rival":
        command = ["taskset", "-c", "1", sys.executable, "-c", "while True: pass"]
    else:
        thief = folder / "thief"
        ran(["gcc", "-O2", "-o", thief, CASES / "thief.c"], folder)
        busy, _, period = kind.removeprefix("thief").partition("/")
        command = [str(thief), "1", busy, period or "100"]
    process = subprocess.Popen(command)
    try:
        time.sleep(0.5)
        if process.poll() is not None:
            raise RuntimeError(f"{kind} does not run: is this root?")
        yield
    finally:
        process.kill()
        process.wait()


def measured(case, name, slowed, args):
    folder, repeats = case.folder, args.repeats
    with slowed_by(slowed, folder):
        evener(folder, "plan", case.graph, "--k", 2, "--objective", "cut", "-o", "equal.plan",
               "--quiet")  # fmt: skip
        put(case, "equal.plan")
        (folder / "tuned.plan").unlink(missing_ok=True)
        found = json.loads(evener(
            folder, "tune", "equal.plan", case.graph, "-o", "tuned.plan", "--samples", "s.toml",
            "--prepare", case.put, "--rounds", args.rounds, "--json", "--", *case.command(2),
        ))  # fmt: skip
        plans = ["equal", "again"]
        if found["taken"]:
            plans += ["tuned", best_of_metis(case)]
        if slowed.startswith("thief"):
            plans.append("alone")
        if case.compiles:  # for the sizes of blocks, in the first run of each plan
            for one in plans:
                run_once(case, one)
        walls, iterations = {one: [] for one in plans}, {}
        for _ in range(repeats):
            for one in plans:
                seconds, text = run_once(case, one)
                walls[one].append(seconds)
                iterations[one] = case.iterations(text)
        shim = [timed_with_shim(case) for _ in range(repeats)] if slowed == "none" else []
    return {
        "case": name, "slowed": slowed, "vertices": ev.read_plan(folder / "equal.plan").partition.n,
        "rounds": found["rounds"], "taken": found["taken"], "walls": walls, "shim": shim,
        "iterations": iterations, "load": os.getloadavg()[0], "date": time.strftime("%Y-%m-%d"),
        "cpu": cpu_name(),
    }  # fmt: skip


def run_once(case, one):
    """Run a plan, or "alone"; return its wall seconds and output."""
    if one != "alone":
        put(case, f"{'equal' if one == 'again' else one}.plan")
    command = case.alone if one == "alone" else case.command(2)
    time.sleep(SETTLE)
    began = time.perf_counter()
    text = ran(command, case.folder)
    return time.perf_counter() - began, text


def put(case, plan):
    ran(case.put.replace("{plan}", plan), case.folder, shell=True)


def best_of_metis(case):
    """Make METIS's plans at the speeds that tune found; return the name of the one of less cut."""
    cuts = {}
    for tool in METIS:
        name = f"{tool}.plan"
        evener(case.folder, "plan", case.graph, "--speeds", "s.toml", "--with", tool,
               "--epsilon", EPSILON,
               "--objective", "cut", "-o", name, "--quiet")  # fmt: skip
        cuts[tool] = ev.read_plan(case.folder / name).evaluation.edge_cut
    return min(cuts, key=cuts.get)


def timed_with_shim(case):
    """Return the wall seconds of a run of equal blocks with the measuring library preloaded."""
    put(case, "equal.plan")
    with tempfile.TemporaryDirectory() as place:
        words = preloaded(case.command(2), Path(place))
        time.sleep(SETTLE)
        began = time.perf_counter()
        ran(words, case.folder)
        return time.perf_counter() - began


def cpu_name():
    text = Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*:\s*(.*)", text)
    return found[1] if found else "unknown"


def table(lines):
    """Return a row a case; ratios are of medians of wall seconds."""
    rows = [["case", "core 1", "equal", "tuned", "tuned / equal", "allowed", "tuned / METIS",
             "null", "predicted / measured", "iterations", "core 0 alone"]]  # fmt: skip
    for line in lines:
        walls = {one: median(values) for one, values in line["walls"].items()}
        null = f"{walls['again'] / walls['equal']:.3f}"
        shim = f"; shim {median(line['shim']) / walls['equal']:.3f}" if line["shim"] else ""
        says = any(LEFT_OUT in why for one in line["rounds"] for why in one["reasons"])
        alone = (
            f"{walls['alone']:.2f} s, {'said' if says else 'not said'}" if "alone" in walls else ""
        )
        row = [line["case"], line["slowed"] + shim, f"{walls['equal']:.2f} s"]
        if "tuned" not in walls:
            rows.append([*row, "stays", "", "", "", null, "", "", alone])
            continue
        first, before, after = (line["rounds"][i] for i in (0, line["taken"] - 1, line["taken"]))
        tuned, metis = walls["tuned"], next(walls[one] for one in METIS if one in walls)
        predicted = before["seconds"] / before["gain"] / after["seconds"]
        more = line["iterations"]["tuned"] / max(line["iterations"]["equal"], 1)
        numbers = tuned / walls["equal"], 1 / first["gain"], tuned / metis
        rows.append([*row, f"{tuned:.2f} s", *(f"{one:.3f}" for one in numbers), null,
                     f"{predicted:.3f}", f"{more:.3f}", alone])  # fmt: skip
    return markdown(rows)


def first(lines):
    """Return the first case as a short table, for the README."""
    walls = {one: median(values) for one, values in lines[0]["walls"].items()}
    metis = next(walls[one] for one in METIS if one in walls)
    return markdown([
        ["blocks", "wall seconds"],
        ["equal", f"{walls['equal']:.1f}"],
        ["after `evener tune`", f"**{walls['tuned']:.1f}**"],
        ["METIS at these speeds", f"{metis:.1f}"],
    ])  # fmt: skip


if __name__ == "__main__":
    main()
