"""OpenFOAM: the list and settings with which decomposePar gives each rank its device's block.

decomposePar's method `manual` reads a labelList next to the folder polyMesh; decomposeParDict
states the name of the list. The entry that selects the method is `method` in ESI's OpenFOAM,
`decomposer` in OpenFOAM.org from version 12 on; Evener writes both, because some versions read
both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evener.errors import InputError, UsageError
from evener.integrations.requests import ExportFiles, ExportRequest, one_file
from evener.io.plans.partitions import part_pieces
from evener.io.plans.promises import promise_of, promise_to_dict
from evener.io.sources import find_file, open_source
from evener.wording import plural

LIST, SETTINGS = "cellDecomposition", "decomposeParDict"
_TIME = re.compile(r"constant|\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_CONSTRAINT = re.compile(r"\b(constraints|preserve[A-Z]\w*|singleProcessor\w*)\b")
_INNER = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class FoamCase:
    """A case's own folder, the folder that contains polyMesh, and the folder of its settings."""

    folder: Path
    mesh: Path
    system: Path


def files(request: ExportRequest) -> ExportFiles:
    """Return the list of blocks, and settings if the case has none, or with `force`.

    The user's settings are then kept in decomposeParDict.old. All files go into the case that was
    read; if the target names a file, only the list is written, to that file. Raises UsageError for
    a plan of points and another case; InputError if there is no case.
    """
    if request.by != "cells":
        raise UsageError("OpenFOAM divides cells, but this plan divides points")
    terms = promise_to_dict(promise_of(request.plan))
    blocks = part_pieces(request.part, "openfoam", mesh=request.mesh, terms=terms)
    if request.target is not None and not request.target.is_dir():
        return one_file(request.target, blocks)
    assert request.source is not None
    case = case_of(request.source)
    if request.target is not None and not request.target.samefile(case.folder):
        message = f"{request.target} is a folder, but not the case of {request.source}"
        raise UsageError(message, hint="Name the case after the plan, without -o.")
    list_of_blocks: dict[str, Iterable[bytes]] = {str(_below(case, case.mesh / LIST)): blocks}
    settings = case.system / SETTINGS
    there = find_file(settings)
    made = list_of_blocks | {str(_below(case, settings)): [_settings(request.k)]}
    if there is None:
        return ExportFiles(case.folder, made)
    old = open_source(there).data
    lacks = ", ".join(_lacking(old.decode(errors="replace"), request.k))
    if not (request.force and lacks):
        return ExportFiles(case.folder, list_of_blocks, (_said_of(there, lacks, request.k),))
    if _EVENERS.fullmatch(old):
        return ExportFiles(case.folder, made)
    aside = settings.with_name(f"{SETTINGS}.old")
    note = f"{settings} now selects the list of blocks; {aside.name} is the file as it was."
    return ExportFiles(case.folder, {str(_below(case, aside)): [old], **made}, (note,))


def case_of(path: Path) -> FoamCase:
    """Return the case of `path`: a case, a folder with polyMesh, polyMesh, or a file in it.

    Raises InputError if polyMesh is not in a folder `constant` or a time folder, or in a region
    within one, or if the case has no folder `system`.
    """
    places = (path, path / "polyMesh", path / "constant" / "polyMesh")
    mesh = next((p for p in places if find_file(p / "faces")), path.parent)
    for polymesh in (mesh, mesh.resolve()):
        for depth, place in enumerate((polymesh.parent, polymesh.parent.parent)):
            system = place.parent / "system"
            if _TIME.fullmatch(place.name) and system.is_dir():
                region = polymesh.parent.name if depth else ""
                return FoamCase(place.parent, polymesh.parent, system / region)
    hint = (
        "A case has folders system and constant/polyMesh; -o FILE writes only the list of blocks."
    )
    raise InputError("is not an OpenFOAM case", file=path, hint=hint)


def _below(case: FoamCase, path: Path) -> Path:
    return path.relative_to(case.folder)


def _entries(k: int) -> str:
    """Return the entries of decomposeParDict that make decomposePar use the list."""
    return (
        f"numberOfSubdomains {k};\n"
        "method      manual;\n"
        "decomposer  manual;  // the name of `method` in OpenFOAM.org 12 and later\n"
        f'manualCoeffs {{ dataFile "{LIST}"; }}\n'
    )


def _settings(k: int) -> bytes:
    head = (
        "FoamFile\n{\n    version     2.0;\n    format      ascii;\n    class       dictionary;\n"
        f'    location    "system";\n    object      {SETTINGS};\n}}\n\n'
    )
    return f"{head}{_entries(k)}".encode()


# Settings that were written here, for any number of ranks.
_EVENERS = re.compile(re.escape(_settings(0)).replace(b"Subdomains\\ 0", rb"Subdomains\ \d+"))


def _said_of(settings: Path, lacks: str, k: int) -> str:
    """Return a note on existing settings, which stay unchanged; lacks: their faults, or ""."""
    if not lacks:
        return f"{settings} is unchanged: it already uses the list for {k} ranks."
    return (
        f"{settings} is unchanged, but has {lacks}. --force replaces the file and keeps a copy, "
        f"{SETTINGS}.old. Or add:\n{_entries(k)}"
    ).rstrip()


def _lacking(text: str, k: int) -> Iterator[str]:
    """Yield what settings lack to use the list of k blocks; ignores entries set by macros."""
    text = _COMMENT.sub("", text)
    inner, outer = text, _INNER.sub("", text)
    while outer != inner:
        inner, outer = outer, _INNER.sub("", outer)
    counts = re.findall(r"\bnumberOfSubdomains\s+(\d+)\s*;", outer)
    if counts[-1:] != [str(k)]:
        found = f"numberOfSubdomains {counts[-1]}" if counts else "no numberOfSubdomains"
        yield f"{found}, but the plan has {plural(k, 'device')}"
    methods = re.findall(r"\b(?:method|decomposer)\s+(\w+)\s*;", outer)
    if not methods or set(methods) != {"manual"}:
        yield f"the method {methods[-1]}" if methods else "no method"
    if constraint := _CONSTRAINT.search(outer):
        yield f"{constraint[0]}, which decomposePar refuses together with a list"
    if not re.search(rf'\bdataFile\s+"?{LIST}"?\s*;', text):
        yield f"no dataFile {LIST}"
