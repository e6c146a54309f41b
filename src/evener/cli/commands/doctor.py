"""`evener doctor`: print versions, threads, memory, optional tools; run a self-test."""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from evener.cli.output import Output
from evener.errors import EvenerError
from evener.threads import cores

CORE = (
    "numpy",
    "scipy",
    "numba",
    "pymetis",
    "meshlane",
    "rich",
    "jinja2",
    "matplotlib",
    "pillow",
    "tomli-w",
    "zstandard",
    "psutil",
)
# Optional packages besides partitioners, and how to install them.
EXTRAS = {
    "h5py": "pip install h5py, for CGNS, MED, XDMF in HDF5 (extra [meshes])",
    "netCDF4": "pip install netCDF4, for Exodus",
    "mpi4py": "pip install mpi4py mpich",
    "numba-cuda": "pip install 'numba-cuda[cu13]', or [cu12]",
}
SELF_TEST_LIMIT = 30.0  # [s] for METIS on 2,500 vertices


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Do nothing: the command has no arguments."""


def run(args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Print what is installed and whether it works; return 0 if Evener itself works, else 5."""
    packages = {name: _version(name) for name in CORE}
    optional = _optional()
    checks = [_check(name, test) for name, test in _tests().items()]
    missing = [name for name, found in packages.items() if found is None]
    fine = not missing and all(check["ok"] for check in checks)
    out.result(
        {
            "ok": fine,
            "evener": _version("evener"),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "threads": cores(),
            "memory_GiB": _memory_GiB(),
            "packages": packages,
            "optional": optional,
            "checks": checks,
        }
    )
    _print(out, packages, optional, checks)
    out.say("\nThe core is fine." if fine else "\nThe core is not fine.")
    if missing:
        out.note(f"evener: missing: {', '.join(missing)}\npip install {' '.join(missing)}")
    for check in checks:
        if not check["ok"]:
            out.note(f"evener: {check['check']} failed: {check['detail']}")
    return 0 if fine else 5


def _print(
    out: Output,
    packages: dict[str, str | None],
    optional: list[dict[str, Any]],
    checks: list[dict[str, Any]],
) -> None:
    out.say(f"evener {_version('evener')}, Python {platform.python_version()}")
    memory = _memory_GiB()
    room = "" if memory is None else f", {memory:.1f} GiB of memory"
    out.say(f"{platform.system()} {platform.machine()}, {cores()} threads{room}\n")
    for name, found in packages.items():
        out.say(f"  {name:<12}{found or 'missing'}", hang=12)
    out.say("\noptional")
    for tool in optional:
        found = tool["version"] or f"not installed: {tool['get']}"
        out.say(f"  {tool['name']:<12}{found}", hang=12)
    out.say("\nself-test")
    for check in checks:
        verdict = "ok" if check["ok"] else "FAILED"
        took = f"{check['check']} ({check['seconds']:.2f} s)"
        out.say(f"  {verdict:<7} {took}: {check['detail']}", hang=8)


def _optional() -> list[dict[str, Any]]:
    """Return name, version and installation of optional tools and packages."""
    from evener.partitioning.external import scotch
    from evener.partitioning.tools import TOOLS

    found = []
    for name in ("scotch", "kaminpar", "mtkahypar"):
        how = TOOLS[name].missing()
        number = scotch.library_version() if name == "scotch" else _version(name)
        found.append({"name": name, "version": number, "get": how})
    for name, how in EXTRAS.items():
        number = _version(name)
        found.append({"name": name, "version": number, "get": None if number else how})
    return found


def _tests() -> dict[str, Callable[[], str]]:
    return {
        "METIS in a child process": _try_metis,
        "a compiled kernel": _try_kernel,
        "a temporary file": _try_temporary_file,
    }


def _check(name: str, test: Callable[[], str]) -> dict[str, Any]:
    start = time.monotonic()
    try:
        detail, ok = test(), True
    except Exception as error:  # any failure is what the command reports
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        detail, ok = message, False
    return {"check": name, "ok": ok, "seconds": time.monotonic() - start, "detail": detail}


def _try_metis() -> str:
    from evener.partitioning.external.children import run_in_child
    from evener.partitioning.external.jobs import Job

    xadj, adjncy = _grid(50)
    targets = np.array([4.0, 2.0, 1.0, 1.0])
    job = Job("metis", xadj, adjncy, None, None, targets, 0.03, 7, 1, "cut", "default")
    outcome = run_in_child(job, "evener.partitioning.external.metis", SELF_TEST_LIMIT)
    weights = np.bincount(outcome.part, minlength=targets.size)
    worst = float((weights / (targets * weights.sum() / targets.sum())).max())
    if worst > 1.1:
        raise EvenerError(f"a block is {worst:.2f} times its target")
    return f"{outcome.version}, 2,500 vertices, heaviest block {worst:.3f} times its target"


def _try_kernel() -> str:
    from evener.cli.precompile.compiler import kernels_used
    from evener.graphs import graph_kernels

    xadj, adjncy = _grid(50)
    label = np.empty(xadj.size - 1, np.int32)
    count = graph_kernels.components(xadj, adjncy, np.empty_like(label), label)
    if count != 1 or label.any():
        raise EvenerError(f"a connected graph was found to have {count} components")
    own = f"{graph_kernels.__name__}.components."
    homes = [Path(path) for name, path in kernels_used().items() if name.startswith(own)]
    return "1 component, as expected" + "".join(f"; compiled in {home.name}" for home in homes)


def _try_temporary_file() -> str:
    with tempfile.TemporaryFile() as file:
        file.write(bytes(1024))
        file.flush()
        return f"written in {tempfile.gettempdir()}"


def _grid(side: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return xadj, adjncy of a square grid graph."""
    ids = np.arange(side * side, dtype=np.int32).reshape(side, side)
    u = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    v = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    source, target = np.concatenate([u, v]), np.concatenate([v, u])
    order = np.lexsort((target, source))
    degrees = np.bincount(source, minlength=ids.size)
    return np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64), target[order]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _memory_GiB() -> float | None:  # noqa: N802
    try:
        import psutil
    except ImportError:
        return None
    return float(psutil.virtual_memory().total) / 2**30
