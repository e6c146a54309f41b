"""The formats that `evener export --to` writes for other programs, and their writing.

A format that contains only the block of each vertex belongs to `PART_FORMATS` of
evener.io.plans.partitions. To add another format: write a module in this folder with a function
that takes an `ExportRequest` and returns the `ExportFiles` to be written (it writes nothing
itself), and add an entry to `EXPORTERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from evener.errors import InputError, UsageError
from evener.files.writing import write_together
from evener.integrations import (
    gmsh,
    mfem,
    ocean,
    openfoam,
    petsc,
    pyfr,
    vtk,
)
from evener.integrations.requests import ExportFiles, ExportRequest
from evener.wording import meant

if TYPE_CHECKING:
    from evener.io import Reading
    from evener.plans.plan import Plan


class Exporter(NamedTuple):
    """A format of exports.

    files(request) returns the files to write; needs: what the user must name after the plan. adds:
    whether the file that was read is written again, with the plan added.
    """

    files: Callable[[ExportRequest], ExportFiles]
    needs: Literal["nothing", "graph", "mesh"] = "nothing"
    adds: bool = False


EXPORTERS: dict[str, Exporter] = {
    "adcirc": Exporter(ocean.adcirc),
    "gmsh": Exporter(gmsh.files, needs="mesh"),
    "gmsh2": Exporter(gmsh.files_2, needs="mesh"),
    "mfem": Exporter(mfem.files),
    "openfoam": Exporter(openfoam.files, needs="mesh"),
    "petsc": Exporter(petsc.files),
    "pyfr": Exporter(pyfr.files, needs="mesh", adds=True),
    "pvtu": Exporter(vtk.files, needs="mesh"),
    "schism": Exporter(ocean.schism),
}
_PLAN_AGAIN = "Plan this file again with `evener plan`."


class Exported(NamedTuple):
    """The files that were written, in `folder`, and notes for the user."""

    folder: Path
    paths: list[Path]
    notes: tuple[str, ...]


def export(request: ExportRequest, to: str, *, force: bool = False) -> Exported:
    """Write the plan of `request` in the format `to`, a key of EXPORTERS; return the written files.

    If only the file named by `request.target` is written, it replaces an existing file; other
    existing files are replaced only with `force`. A user's own settings file is kept, possibly
    under another name. Raises UsageError for an unknown format, a missing mesh or target, and
    existing files; InputError if the file that was read is not the plan's, or lacks what the format
    needs.
    """
    if to not in EXPORTERS:
        hint = f"Formats: {', '.join(EXPORTERS)}."
        raise UsageError(f"a plan cannot be exported to {to!r}{meant(to, EXPORTERS)}", hint=hint)
    _refuse_missing(to, request.reading)
    if request.reading is not None:
        refuse_other_input(request.plan, request.reading, str(request.source))
    made = EXPORTERS[to].files(replace(request, force=force))
    named = [request.target, request.source if EXPORTERS[to].adds else None]
    is_named = len(made.files) == 1 and made.folder / next(iter(made.files)) in named
    paths = write_together(made.folder, made.files, force=force or is_named)
    return Exported(made.folder, paths, made.notes)


def refuse_other_input(plan: Plan, reading: Reading, path: str) -> None:
    """Raise InputError if `reading`, of the file at `path`, is not the plan's graph.

    Compares the number of vertices, the digests if the plan records any, and the plan's
    certificate, which is recomputed.
    """
    from evener.io.plans.promises import same_inputs
    from evener.planning.evaluate import misstated

    n = reading.graph.n
    if n != plan.partition.n:
        message = f"has {n:,} vertices, but the plan divides {plan.partition.n:,}"
        raise InputError(message, file=path, hint=_PLAN_AGAIN)
    if not same_inputs(plan.inputs, reading.inputs):
        message = "is not the file that the plan was made from, or was changed since (SHA-256)"
        raise InputError(message, file=path, hint=_PLAN_AGAIN)
    wrong = misstated(plan, reading.undirected)
    if wrong:
        message = f"does not match the plan, or the plan was changed: {wrong[0]}"
        raise InputError(message, file=path, hint=_PLAN_AGAIN)


def _refuse_missing(to: str, reading: Reading | None) -> None:
    needs = EXPORTERS[to].needs
    if reading is None and needs != "nothing":
        raise UsageError(f"{to} needs the {needs}", hint=f"Name the {needs} file after the plan.")
    if needs == "mesh" and reading is not None and reading.mesh is None:
        raise UsageError(f"{to} needs a mesh, but the file contains a graph")
