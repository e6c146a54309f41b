"""Refuses files given in the wrong place, such as a machine file for GRAPH, before any work.

Only what a file's first bytes prove is refused here; the reader of the file refuses the rest.
"""

from __future__ import annotations

import argparse
import re
import zipfile
from dataclasses import dataclass, fields, replace
from pathlib import Path

from evener.errors import UsageError

HEAD = 65536  # bytes that are looked at
SORTS = {
    "machine": "describes a machine",
    "speeds": "holds speeds of devices",
    "plan": "is a plan",
    "decisions": "holds decisions of a rebalancer",
    "part": "is a partition, a block number for each vertex",
    "filters": "is a stream graph",
}
_SPEEDS = re.compile(rb"^\s*(?:samples\s*=|\[\[surface\]\])", re.MULTILINE)
GRAPH = "a mesh, matrix or graph"
# Endings that files of partitions, and of stream graphs, share with some of meshes and graphs.
OF_PARTS = (".csv", ".json", ".msh", ".npy", ".npz", ".part", ".txt")
OF_FILTERS = (".dax", ".dot", ".graphml", ".gv", ".json", ".stg", ".toml", ".xml")


@dataclass(frozen=True)
class GivenFiles:
    """The input files that a command was given, by what each should be; None: not given.

    filters: a stream graph. shown: a machine file, and no plan in its place.
    """

    graph: str | None = None
    machine: str | None = None
    part: str | None = None
    plan: str | None = None
    mesh: str | None = None
    speeds: str | None = None
    filters: str | None = None
    shown: str | None = None


def files_from(command: str, args: argparse.Namespace) -> GivenFiles:
    """Return the input files that the command was given."""
    given = vars(args)
    found = GivenFiles(**{key.name: given.get(key.name) for key in fields(GivenFiles)})
    if command == "info":
        return replace(found, graph=given["file"])
    if command == "map":
        return replace(found, filters=given["app"])
    if command == "machine":
        return replace(found, shown=given.get("file"))
    if command == "replay":
        return replace(found, mesh=found.graph, graph=None)
    if command == "run" and found.graph is None and not given["stream"]:
        return replace(found, graph=found.plan, plan=None)  # as run_options_from takes one file
    return found


def refuse_swapped(command: str, files: GivenFiles) -> None:
    """Raise UsageError where a file is certainly of another sort than the command takes there."""
    graph, machine, part = files.graph, files.machine, files.part
    if graph is not None and files.plan is not None and sort_of(graph) == "plan":
        _refuse_plan(command, files.plan, sort_of(files.plan), graph)
    if graph is not None and (sort := sort_of(graph)) not in (None, "filters"):
        _refuse_graph(command, graph, sort, machine, part)
    if machine is not None and (sort := sort_of(machine)) not in (None, "machine", "plan"):
        raise _not_a(machine, sort, "a machine file or a plan", None)
    if part is not None and (sort := sort_of(part)) in (
        "machine",
        "speeds",
        "decisions",
        "filters",
    ):
        raise _not_a(part, sort, "a partition or a plan", None)
    if part is not None and _named_as_graph(part, OF_PARTS) and sort_of(part) is None:
        raise _named(part, "a partition or a plan, with the block of each vertex,", None)
    if files.filters is not None:
        _refuse_filters(files.filters)
    if files.shown is not None and (sort := sort_of(files.shown)) not in (None, "machine"):
        raise _not_a(files.shown, sort, "a machine file", None)
    if files.speeds is not None and (sort := sort_of(files.speeds)) not in (None, "speeds"):
        raise _not_a(files.speeds, sort, "a file of speeds", None)
    if files.plan is not None and (sort := sort_of(files.plan)) not in ("plan", "decisions"):
        _refuse_plan(command, files.plan, sort, files.mesh)
    if files.mesh is not None and (sort := sort_of(files.mesh)) not in (None, "filters"):
        raise _not_a(files.mesh, sort, GRAPH, None)
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
    except (OSError, ValueError):  # its reader says what is wrong with it
        return None
    if head.startswith(b'{"decisions": '):
        return "decisions"
    if head.startswith(b"PK"):
        return "plan" if _holds_manifest(file) else None
    if b"[[device]]" in head or b"[[surface]]" in head:
        return "speeds" if _SPEEDS.search(head) else "machine"
    if re.search(rb"^\s*\[\[filter\]\]", head, re.MULTILINE):
        return "filters"
    return "part" if _is_part(head) else None


def _holds_manifest(file: Path) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return {"manifest.npy", "part.npy"} <= set(archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False


def _is_part(head: bytes) -> bool:
    """Whether the file has three lines or more, each a single whole number, as no graph has."""
    lines = head.split(b"\n")[:-1] if len(head) == HEAD else head.split(b"\n")
    words = [line.strip() for line in lines if line.strip()]
    return len(words) > 2 and all(word.isdigit() for word in words)


def _named_as_graph(path: str, others: tuple[str, ...] = ()) -> bool:
    """Whether a file's name ends as those of meshes, matrices and graphs do, and no others."""
    from evener.io.formats import FORMATS

    plain = path.lower()
    for packed in (".gz", ".xz", ".zst", ".bz2"):
        plain = plain.removesuffix(packed)
    suffix = Path(plain).suffix
    if suffix in others:
        return False
    return Path(path).is_file() and any(suffix in entry.suffixes for entry in FORMATS)


def _refuse_graph(
    command: str, graph: str, sort: str, machine: str | None, part: str | None
) -> None:
    """Raise UsageError for a file given for the graph; the hint swaps the two where that fits."""
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


def _refuse_filters(app: str) -> None:
    """Raise UsageError for a file given for a stream graph, if it certainly is none."""
    sort = sort_of(app)
    if sort not in (None, "filters", "part"):  # STG begins with numbers alone
        raise _not_a(app, sort, "a stream graph", None)
    if sort is None and _named_as_graph(app, OF_FILTERS):
        raise _named(app, "a stream graph", f"`evener plan {app} --machine FILE` divides it.")


def _named(path: str, wanted: str, hint: str | None) -> UsageError:
    return UsageError(f"{path} is named as {GRAPH} is; {wanted} is expected there", hint=hint)


def _refuse_plan(command: str, plan: str, sort: str | None, mesh: str | None) -> None:
    """Raise UsageError for a file given for the plan, if its sort is known."""
    swapped = mesh is not None and sort_of(mesh) in ("plan", "decisions")
    if swapped:
        what = "is not a plan" if sort is None else SORTS[sort]
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
