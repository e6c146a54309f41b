"""Make an edge plan of a file that is read in pieces: its edges are never all in memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evener.arrays import Part
from evener.errors import InfeasibleError, NotFoundError, UsageError, one_of
from evener.files.writing import take_room
from evener.graphs.edge_list import BYTES_PER_LISTED_EDGE
from evener.io.accept import PlatformLike, as_platform
from evener.io.graphs.edge_pieces import EdgePieces, Survey
from evener.io.streaming import digest_of
from evener.planning.split import cpu_seconds_of_all
from evener.plans.edge_partition import EdgeMetrics, EdgePartition
from evener.plans.edge_plan import EdgePlan
from evener.plans.partition import Contract
from evener.platforms.platform import Platform
from evener.sizing.contracts import contract_of_facts
from evener.sizing.facts import LoadFacts
from evener.splitting.from_files import STREAMS, metrics_of_pieces, split_pieces
from evener.wording import memory, plural

OF = "file"  # an entry of `part` for each edge of the file, in its order


@dataclass(frozen=True)
class StreamOptions:
    """Options for dividing a file's edges while they are read.

    method: one of evener.splitting.from_files.STREAMS. epsilon, seed: see SplitOptions. buffer:
    number of edges that method "stream" keeps waiting; None: a million, or an eighth of all edges
    if that is more. memory [B]: limit for the edges that "hep" stores; None: no limit. Raises
    UsageError for other values.
    """

    method: str = "stream"
    epsilon: float = 0.03
    seed: int = 7
    buffer: int | None = None
    memory: float | None = None

    def __post_init__(self) -> None:
        one_of("method of streams", self.method, tuple(STREAMS))
        if not 0 <= self.epsilon < 1:
            raise UsageError(f"epsilon must lie in [0, 1), not {self.epsilon}")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative, but is {self.seed}")
        if self.buffer is not None and self.buffer < 1:
            raise UsageError(f"the buffer must hold at least one edge, not {self.buffer}")


class SurveyedFile(NamedTuple):
    """A file that is read in pieces, its counts, and its name with its SHA-256."""

    source: EdgePieces
    survey: Survey
    inputs: dict[str, str]

    @classmethod
    def at(cls, path: str | Path) -> SurveyedFile:
        """Read a file once and return its counts. Raises the InputErrors of EdgePieces."""
        source = EdgePieces(path)
        return cls(source, source.survey(), {Path(path).name: digest_of(path)})

    def contract(self, platform: Platform, epsilon: float) -> Contract:
        """Return the limits on the edges of each device, and on their bytes."""
        if platform.k > self.survey.m:
            raise InfeasibleError(
                f"there are {platform.k:,} devices but only {plural(self.survey.m, 'edge')}: a "
                "block would be empty",
                hint="Use fewer devices.",
            )
        m, each, none = self.survey.m, BYTES_PER_LISTED_EDGE, np.empty(0)
        # An edge counts as a vertex of weight 1.
        facts = LoadFacts(m, float(m), True, 1.0, m * each, each, none, none)
        return contract_of_facts(facts, platform, epsilon)[0]

    def judged(
        self, partition: EdgePartition, platform: Platform, contract: Contract, found: EdgeMetrics
    ) -> EdgePlan:
        """Return a plan of these blocks, with their figures."""
        survey = self.survey
        touched = int(np.count_nonzero(survey.degrees))
        counts = {"vertices": survey.n, "touched": touched, "edges": survey.m}
        notes = (WEIGHTS_UNREAD,) if self.source.weighted else ()
        return EdgePlan(
            partition, platform, contract, found, OF, {}, counts, self.inputs, notes=notes
        )


def split_file(
    path: str | Path,
    platform: PlatformLike,
    options: StreamOptions = StreamOptions(),
    *,
    part_file: str | Path | None = None,
) -> EdgePlan:
    """Divide the edges of a file over devices while the file is read, in its order.

    path: an edge list of integers, or an `.npy` array (m, 2). part_file: name of a file that stores
    the plan's part, with 4 bytes per edge, as long as the plan is used; None: in memory. Raises
    InputError for files that cannot be read in pieces, InfeasibleError like `split`, NotFoundError
    if a block ends up outside its limits, and OSError if the disk has no space for part_file.
    """
    platform = as_platform(platform)
    began = cpu_seconds_of_all()
    file = SurveyedFile.at(path)
    contract = file.contract(platform, options.epsilon)
    part = _room_for(file.survey.m, part_file)
    metrics, said = split_pieces(
        file.source,
        file.survey,
        contract,
        options.method,
        part,
        seed=options.seed,
        size=options.buffer,
        memory=options.memory,
    )
    plan = file.judged(EdgePartition(part, contract.k), platform, contract, metrics)
    plan = replace(
        plan,
        notes=(*plan.notes, *said),
        options=asdict(options) | {"stream": True},
        versions={name: version(name) for name in ("evener", "numpy")},
        cpu_seconds=cpu_seconds_of_all() - began,
    )
    _refuse_broken(plan)
    return plan


def evaluate_file(
    file: SurveyedFile,
    partition: EdgePartition,
    platform: Platform,
    contract: Contract | None = None,
    *,
    epsilon: float = 0.03,
) -> EdgePlan:
    """Return any blocks of a file's edges as a plan, by one more pass over the file.

    Arguments and errors: see `evaluate_edges`.
    """
    contract = file.contract(platform, epsilon) if contract is None else contract
    metrics = metrics_of_pieces(file.source, file.survey, partition)
    return file.judged(partition, platform, contract, metrics)


WEIGHTS_UNREAD = "The third column is ignored: every line is one unit of work."


def _refuse_broken(plan: EdgePlan) -> None:
    """Raise NotFoundError that names a block that violates its contract, if there is one."""
    if plan.holds.all():
        return
    b = int(np.argmin(plan.holds))
    loads, contract, name = plan.metrics.loads, plan.contract, plan.platform.names[b]
    used, cap = plan.metrics.bytes[b], contract.caps[b]
    if used > cap:
        what = f"needs {memory(used)} with its copies of vertices, but has {memory(cap)}"
    else:
        what = f"has {loads[b]:,g} edges instead of {contract.low[b]:,g} to {contract.high[b]:,g}"
    off = int(np.count_nonzero(~plan.holds))
    raise NotFoundError(
        f"no plan: device {name!r} {what} ({off} of {contract.k} devices violate their limits)",
        hint="Increase --epsilon, choose another --method, or omit --stream: Evener then enforces "
        "the limits.",
    )


def _room_for(m: int, file: str | Path | None) -> Part:
    """Return an array (m,) int32, in a new file if a name is given."""
    if file is None:
        return np.empty(m, np.int32)
    with Path(file).open("w+b") as opened:
        take_room(opened, 4 * m)
        return np.memmap(opened, np.int32, "r+", shape=(m,))
