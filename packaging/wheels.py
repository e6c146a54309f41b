"""Builds the wheels, and tries each in a fresh environment: what `make wheel` runs.

    python packaging/wheels.py [--pythons python3.11 python3.12 ...] [--out dist]

For each Python of `requires-python` that is found: an environment with what Evener needs, all
kernels compiled there for LEVEL and packed (`evener warm --pack`), a wheel with the pack, and a
fresh environment into which the wheel is installed. There the first plan is timed, and all
rehearsals of `evener warm` must find every kernel compiled. A wheel for any other Python, without a
pack, is built beside and tried too. Environments and packs are kept in build/wheels, and machine
code in __pycache__: only what has changed is compiled again.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "wheels"
LEVEL = "x86-64-v2"  # what NumPy's wheels need as well
MAX_MB = 6.0
USUAL = ("python3.11", "python3.12", "python3.13")
PIP = ("-m", "pip", "--disable-pip-version-check", "-q")


def run(*words: object, quiet: bool = False, **variables: str) -> str:
    """Return what a command prints; ends all with what it said if it fails."""
    line = [str(word) for word in words]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | variables
    ended = subprocess.run(line, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{' '.join(line)}\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}")
    return ended.stdout if quiet else ended.stdout + ended.stderr


def tag_of(python: str) -> str:
    """Return a Python's name in wheels, such as cp311; "" where there is no such Python."""
    code = "import sys; print(f'cp{sys.version_info[0]}{sys.version_info[1]}')"
    found = shutil.which(python)
    if found is None:
        return ""
    ended = subprocess.run([found, "-c", code], capture_output=True, text=True, check=False)
    return ended.stdout.strip() if ended.returncode == 0 else ""


def environment(folder: Path, python: str, *install: object) -> Path:
    """Return the Python of an environment in `folder`, made if need be, with this installed."""
    own = folder / "bin" / "python"
    if not own.exists():
        run(python, "-m", "venv", folder)
    run(own, *PIP, "install", *install)
    return own


def packed(tag: str, python: str) -> tuple[Path, Path]:
    """Compile all kernels for LEVEL; return the environment's Python and the pack."""
    own = environment(BUILD / tag, python, "-e", ROOT, "hatchling")
    folder = BUILD / "packs"
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    told = run(own, "-P", "-m", "evener", "warm", "--pack", folder, "--level", LEVEL, "--json",
               quiet=True)  # fmt: skip
    done = json.loads(told)
    print(f"{tag}: {len(done['compiled'])} kernels compiled and {done['used']} packed in"
          f" {time.monotonic() - began:.0f} s, {done['cpu_seconds']:.0f} CPU s")  # fmt: skip
    return own, Path(done["pack"])


def wheel(python: Path, out: Path, pack: Path | None) -> Path:
    """Build a wheel with a pack, or for any Python; return its path."""
    fresh = BUILD / "new"
    shutil.rmtree(fresh, ignore_errors=True)
    share = BUILD / "share"
    shutil.rmtree(share, ignore_errors=True)
    run(python, "-P", ROOT / "packaging" / "share.py", share)
    variables = {"EVENER_SHARE": str(share)}
    if pack is not None:
        variables["EVENER_PACK"] = str(pack)
    run(python, *PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", fresh, ROOT, **variables)
    (made,) = fresh.glob("*.whl")
    out.mkdir(exist_ok=True)
    made.replace(out / made.name)
    return out / made.name


def tried(tag: str, python: str, made: Path, mesh: Path) -> None:
    """Install a wheel into a fresh environment; its first plan and all rehearsals compile nothing.

    Ends all where one does, or the wheel is too large.
    """
    folder = BUILD / f"fresh-{tag}"
    shutil.rmtree(folder, ignore_errors=True)
    own = environment(folder, python, made)
    home = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home")}
    size = made.stat().st_size / 1e6
    plans = [plan_seconds(own, mesh, folder / f"{i}.plan", home) for i in range(2)]
    (first, first_cpu), (second, second_cpu) = plans
    done = json.loads(run(own, "-P", "-m", "evener", "warm", "--json", quiet=True, **home))
    kept = list(folder.rglob("*.nbc"))
    compiled, used, cpu = len(done["compiled"]), done["used"], done["cpu_seconds"]
    print(f"{made.name}: {size:.1f} MB; first plan {first:.1f} s, {first_cpu:.2f} CPU s; second"
          f" {second:.1f} s, {second_cpu:.2f} CPU s; all rehearsals: {compiled} of {used} compiled,"
          f" {cpu:.0f} CPU s")  # fmt: skip
    if done["compiled"] or kept or size > MAX_MB:
        sys.exit(f"{made.name}: compiled {done['compiled'][:5]}, kept {kept[:5]}")


def plan_seconds(python: Path, mesh: Path, out: Path, home: dict[str, str]) -> tuple[float, float]:
    """Return wall and CPU seconds of a plan into 8 blocks, as `evener plan` takes them."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run(python.with_name("evener"), "plan", mesh, "--k", 8, "-o", out, "--quiet", **home)
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, sum(after[:2]) - sum(before[:2])


def tried_without(python: str, made: Path, mesh: Path) -> None:
    """Install the wheel for any Python; its first command compiles, and says why."""
    folder = BUILD / "fresh-any"
    shutil.rmtree(folder, ignore_errors=True)
    own = environment(folder, python, made)
    home = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home")}
    said = run(own, "-P", "-m", "evener", "info", mesh, **home)
    lines = [line for line in said.splitlines() if "came with this wheel" in line]
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB; {lines}")
    if len(lines) != 1 or not list(folder.rglob("*.nbc")):
        sys.exit(f"{made.name}: one line was to say why kernels are compiled:\n{said}")


def mesh_for_trial(python: Path) -> Path:
    """Return a mesh to be planned: the airfoil 4elt of METIS if it is here, or one like it."""
    real = Path(os.environ.get("EVENER_DATA", "")) / "graphs" / "4elt_metis.graph.zst"
    if real.is_file():
        return real
    made = BUILD / "airfoil.su2"
    run(python, "-P", "-m", "evener", "generate", "airfoil", "--seed", 7, "-o", made, "--force")
    return made


def main() -> None:
    """Build and try all wheels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pythons", nargs="+", default=USUAL, help="programs, those found are used"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    args = parser.parse_args()
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    found = {tag: python for python in args.pythons if (tag := tag_of(python))}
    if not found:
        sys.exit(f"none of {', '.join(args.pythons)} was found; Evener needs Python {known}")
    BUILD.mkdir(parents=True, exist_ok=True)
    for tag, python in found.items():
        own, pack = packed(tag, python)
        tried(tag, python, wheel(own, args.out, pack), mesh_for_trial(own))
    tried_without(python, wheel(own, args.out, None), mesh_for_trial(own))


if __name__ == "__main__":
    main()
