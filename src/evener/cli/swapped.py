"""Files that stand where another sort is expected: swapped arguments, named before any work.

Only what is certain from a file's first bytes is said; everything else its reader refuses.
"""

from __future__ import annotations

import argparse
import re
import zipfile
from pathlib import Path

from evener.errors import UsageError

HEAD = 65536  # bytes that tell what a file is
SORTS = {
    "machine": "describes a machine",
    "speeds": "holds speeds of devices",
    "plan": "is a plan",
    "decisions": "holds decisions of a rebalancer",
    "part": "is a partition, a block number for each vertex",
}
_SPEEDS = re.compile(rb"^\s*(?:samples\s*=|\[\[surface\]\])", re.MULTILINE)
GRAPH = "a mesh, matrix or graph"


def refuse_swapped(command: str, args: argparse.Namespace) -> None:
    """Raise UsageError where a file that was given cannot be what it stands for."""
    given = vars(args)
    graph, machine = given.get("graph"), given.get("machine")
    part, plan, mesh = given.get("part"), given.get("plan"), given.get("mesh")
    if command == "info":
        graph = given["file"]
    if command == "replay":
        mesh, graph = graph, None
    if graph is not None and (sort := sort_of(graph)) is not None:
        _refuse_graph(command, graph, sort, machine, part)
    if machine is not None and (sort := sort_of(machine)) not in (None, "machine"):
        raise _not_a(machine, sort, "a machine file", None)
    if part is not None and (sort := sort_of(part)) in ("machine", "speeds", "decisions"):
        raise _not_a(part, sort, "a partition or a plan", None)
    if plan is not None and (sort := sort_of(plan)) not in ("plan", "decisions"):
        _refuse_plan(command, plan, sort, mesh)
    if machine is not None and sort_of(machine) is None and _named_as_graph(machine):
        raise UsageError(
            f"{machine} is named as {GRAPH} is; --machine takes a machine file (.toml)",
            hint=f"`evener machine` makes one; for example: evener {command} {machine} --k 8.",
        )


def sort_of(path: str) -> str | None:
    """Return a key of SORTS, or None where a file is something else or is not there."""
    file = Path(path)
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            head = stream.read(HEAD)
    except (OSError, ValueError):  # its reader says what is wrong
        return None
    if head.startswith(b'{"decisions": '):
        return "decisions"
    if head.startswith(b"PK"):
        return "plan" if _holds_manifest(file) else None
    if b"[[device]]" in head or b"[[surface]]" in head:
        return "speeds" if _SPEEDS.search(head) else "machine"
    return "part" if _is_part(head) else None


def _holds_manifest(file: Path) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return {"manifest.npy", "part.npy"} <= set(archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False


def _is_part(head: bytes) -> bool:
    """Whether there are some lines, each of one whole number: no graph has such."""
    lines = head.split(b"\n")[:-1] if len(head) == HEAD else head.split(b"\n")
    words = [line.strip() for line in lines if line.strip()]
    return len(words) > 2 and all(word.isdigit() for word in words)


def _named_as_graph(path: str) -> bool:
    """Whether a file is called as meshes, matrices and graphs are."""
    from evener.io.formats import FORMATS

    plain = path.lower()
    for packed in (".gz", ".xz", ".zst", ".bz2"):
        plain = plain.removesuffix(packed)
    suffix = Path(plain).suffix
    return Path(path).is_file() and any(suffix in entry.suffixes for entry in FORMATS)


def _refuse_graph(
    command: str, graph: str, sort: str, machine: str | None, part: str | None
) -> None:
    """Refuse what stands where a graph is expected, and say how the two may be swapped."""
    hint = None
    if sort == "machine":
        other = machine if machine is not None and sort_of(machine) is None else "GRAPH"
        hint = f"evener {command} {other} --machine {graph}"
    elif part is not None and sort in ("part", "plan"):
        hint = f"evener {command} {part} {graph}" if sort_of(part) is None else None
    elif sort == "plan" and command in ("info", "plan"):
        raise UsageError(
            f"{graph} is a plan; {GRAPH} is expected there",
            hint=f"Give the file that it was made from; `evener report {graph}` shows the plan.",
        )
    raise _not_a(graph, sort, GRAPH, hint)


def _refuse_plan(command: str, plan: str, sort: str | None, mesh: str | None) -> None:
    """Refuse what stands where a plan is expected, if it is something that we know."""
    swapped = mesh is not None and sort_of(mesh) in ("plan", "decisions")
    if swapped:
        what = "is no plan" if sort is None else SORTS[sort]
        raise UsageError(
            f"{plan} {what}, but {mesh} is: the two are swapped",
            hint=f"Did you mean `evener {command} {mesh} {plan}`?",
        )
    if sort is not None:
        raise _not_a(plan, sort, "a plan", None)
    if _named_as_graph(plan):
        raise UsageError(
            f"{plan} is named as {GRAPH} is; a plan is expected there",
            hint=f"`evener plan {plan} --machine FILE` makes one.",
        )


def _not_a(path: str, sort: str | None, wanted: str, swapped: str | None) -> UsageError:
    question = None if swapped is None else f"Did you mean `{swapped}`?"
    return UsageError(f"{path} {SORTS[sort or '']}; {wanted} is expected there", hint=question)
