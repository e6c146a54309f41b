"""RankBlocks: the block of each cell or row, as integrations use it; compares a plan with a mesh.

Needs only NumPy, so that programs that run in another Python than Evener's can import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evener.arrays import Part, as_integers
from evener.errors import EvenerError, InputError, ToolError, UsageError
from evener.graphs.mesh import Mesh
from evener.plans.partition import Partition
from evener.plans.plan import Plan

PLAN_THE_FILE_READ = (
    "Plan the file that the program reads, with cells in the program's order: the program may have "
    "sorted cells by type. If the plan does not count facets, as for graphs with weights, "
    "compare_cut=False skips this check."
)


@dataclass(frozen=True, eq=False)
class RankBlocks:
    """The block of each vertex, part (n,) int32, and known facts about these blocks.

    k: the number of devices; None if only blocks are given. cut: the plan's edge cut; None if not
    known. by: "cells", or "points" of a mesh. inputs: file name -> SHA-256 of the divided files.
    """

    part: Part
    k: int | None = None
    cut: float | None = None
    by: str = "cells"
    inputs: Mapping[str, str] = field(default_factory=dict)


# A plan, or the block of each vertex; None on ranks that do not read it.
BlocksLike: TypeAlias = Plan | RankBlocks | Partition | npt.ArrayLike | str | Path | None


def blocks_of(plan: BlocksLike, n: int | None = None) -> RankBlocks:
    """Return the blocks of a plan, a partition, an array, or a file with any of these.

    n: number of vertices, needed to read files of other tools; ignored for all other plans. Raises
    InputError for anything that is not a plan.
    """
    if isinstance(plan, str | Path):
        return _read(plan, n)
    if isinstance(plan, Plan):
        return _of_plan(plan)
    if isinstance(plan, RankBlocks):
        return plan
    if isinstance(plan, Partition):
        return RankBlocks(plan.part, plan.k)
    if plan is None:
        raise UsageError("rank 0 got no plan", hint="Only other ranks may pass None.")
    return RankBlocks(_as_part(plan))


def _of_plan(plan: Plan) -> RankBlocks:
    reading = plan.options.get("reading")
    by = reading.get("by", "cells") if isinstance(reading, Mapping) else "cells"
    return RankBlocks(
        plan.partition.part, plan.platform.k, plan.evaluation.edge_cut, str(by), plan.inputs
    )


def _as_part(values: npt.ArrayLike) -> Part:
    part = as_integers(values, "part")
    if part.size and not (part.min() >= 0 and part.max() < 2**31):
        raise InputError("part must hold a block number, from 0 on, for each vertex")
    return part.astype(np.int32)


def _read(path: str | Path, n: int | None) -> RankBlocks:
    """Read a plan file, an export to .npz, or, if n is known, any tool's partition."""
    from evener.io.plans.archived import format_in
    from evener.io.plans.plan import read_plan
    from evener.io.sources import open_source

    if format_in(path):  # a plan, though possibly of edges, which read_plan refuses
        return _of_plan(read_plan(path))
    data = open_source(path, folders=False).data
    if not data.startswith(b"PK"):
        return RankBlocks(_part_of_tool(path, n))
    try:
        return _of_archive(data)
    except EvenerError as error:
        error.file = error.file or str(path)
        raise


def _of_archive(data: bytes) -> RankBlocks:
    """Return the blocks of an export to .npz, and the plan's contract and options if stored."""
    from evener.io.archives import read_arrays
    from evener.io.json_text import loads
    from evener.io.plans.promises import KEY, promise_from_dict

    arrays = read_arrays(data, {"part", KEY})
    if "part" not in arrays:
        raise InputError("is an archive without `part`, not a plan")
    part = _as_part(arrays["part"])
    if KEY not in arrays:
        return RankBlocks(part)
    try:
        terms = loads(str(arrays[KEY][()]))
        k = len(terms["contract"]["target"])
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"contains an invalid contract or invalid options of a plan ({error!r:.60})"
        ) from error
    promise = promise_from_dict(terms, k)
    return RankBlocks(part, k, by=str(promise.reading.get("by", "cells")), inputs=promise.inputs)


def _part_of_tool(path: str | Path, n: int | None) -> Part:
    from evener.io.plans.partitions import read_part

    if n is None:
        raise UsageError(
            f"{path} does not state its number of vertices",
            hint="Give a plan file, or a file of `evener export --to npz` or `--to rows`.",
        )
    try:
        return read_part(path, n)
    except ModuleNotFoundError as error:
        raise ToolError(
            f"{path} is not a plan file; this Python needs {error.name} to read other tools' "
            "text partitions",
            hint="Give the plan file, or the file of `evener export --to npz`, which needs NumPy "
            "only.",
        ) from error


def blocks_of_cells(plan: BlocksLike, n: int, what: str) -> RankBlocks:
    """Return the blocks of n cells. Raises InputError for another number, or a plan of points.

    what: name of the mesh in errors.
    """
    blocks = blocks_of(plan, n)
    if blocks.by != "cells":
        hint = "Plan it with `--by cells`, which is the default."
        raise InputError(
            f"the plan divides the points of its mesh, not the cells of {what}", hint=hint
        )
    if blocks.part.size != n:
        raise InputError(
            f"the plan divides {blocks.part.size:,} cells, but {what} has {n:,}",
            hint="Plan the file that the program reads.",
        )
    return blocks


def n_devices(blocks: RankBlocks) -> int:
    """Return the number of devices, or of blocks if only blocks are known."""
    return blocks.k if blocks.k is not None else int(blocks.part.max(initial=0)) + 1


def another_file(blocks: RankBlocks, file: str | Path) -> InputError:
    """Return the error for a file that is not the one that the plan was made from."""
    return InputError(
        "is not the file that the plan was made from (SHA-256)",
        file=file,
        hint=f"The plan was made from {', '.join(blocks.inputs)}.",
    )


def refuse_other_order(blocks: RankBlocks, mesh: Mesh, what: str, hint: str) -> None:
    """Raise InputError if a mesh has another number of facets between blocks than the plan.

    mesh: the program's mesh, with as many cells as the plan; what: its name in errors. If only
    blocks are known, and thus no edge cut, nothing is compared.
    """
    if blocks.cut is not None:
        refuse_other_cut(blocks, facets_between(blocks, mesh), what, hint)


def refuse_other_cut(
    blocks: RankBlocks, found: int, what: str, hint: str = PLAN_THE_FILE_READ
) -> None:
    """Raise InputError if a mesh has another number of facets between blocks than the plan.

    found: facets between cells of different blocks in `what`, the same number on all ranks.
    """
    if blocks.cut is not None and found != blocks.cut:
        raise InputError(
            f"{what} has {found:,} facets between the plan's blocks, but the plan counts "
            f"{blocks.cut:,.0f}: its cells are in another order than in the planned file",
            hint=hint,
        )


def facets_between(blocks: RankBlocks, mesh: Mesh) -> int:
    """Return the number of pairs of neighbouring cells in different blocks."""
    graph = mesh.dual_graph()
    owner = np.repeat(blocks.part, np.diff(graph.xadj))
    return int(np.count_nonzero(owner != blocks.part[graph.adjncy])) // 2
