"""Contract, Partition, Mapping: limits of blocks, blocks of vertices, devices of blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_integers, as_numbers
from evener.errors import InputError
from evener.wording import brief, duration, plural, spread, two_lines

RELATIVE_SLACK = 1e-9  # of a target: sums of real weights depend on their order
# A device is called full above this share of its memory [-]: blocks of least seconds end where the
# next vertex would not fit, which is seldom the last byte.
FULL_SHARE = 0.99
TIME_SLACK = 1e-6  # of a makespan: the search and the certificate sum seconds differently


@dataclass(frozen=True, eq=False)
class Further:
    """Limits on a further weight of the vertices: targets, low, high (k,) [units].

    by: the property that determines the targets, "speed", "memory" or "equal". Raises InputError
    unless 0 <= low <= high everywhere.
    """

    targets: FloatArray
    low: FloatArray
    high: FloatArray
    by: str = "speed"

    def __post_init__(self) -> None:
        for name in ("targets", "low", "high"):
            object.__setattr__(self, name, as_numbers(getattr(self, name), name))
        if not self.targets.shape == self.low.shape == self.high.shape:
            raise InputError("targets, low and high of a further weight differ in length")
        wrong = ~((self.low >= 0) & (self.low <= self.high))
        if wrong.any():
            b = int(np.argmax(wrong))
            raise InputError(
                f"block {b} has limits {self.low[b]} <= weight <= {self.high[b]}, which no weight "
                "satisfies"
            )

    def __repr__(self) -> str:
        return brief(self)


@dataclass(frozen=True, eq=False)
class Contract:
    """The limits that k blocks must keep: low <= weight <= high, bytes <= caps, not empty.

    targets, low, high (k,) float64 [units]; caps (k,) float64 [B], infinity if there is none. A
    block whose high is 0 may be empty. further: limits on the other weights of the vertices, if
    they have several. may_be_unused: whether devices may be left without vertices, as in a plan for
    seconds; its targets are only informative: the sizes that would be best if nothing were
    exchanged. makespan [s]: latest end of any device, infinity if there is no such limit. Raises
    InputError unless 0 <= low <= high everywhere, and caps and makespan are above zero.
    """

    targets: FloatArray
    low: FloatArray
    high: FloatArray
    caps: FloatArray = field(default_factory=lambda: np.empty(0))
    further: tuple[Further, ...] = ()
    may_be_unused: bool = False
    makespan: float = np.inf

    def __post_init__(self) -> None:
        if not self.makespan > 0:
            raise InputError(f"the makespan of a contract must be above zero, not {self.makespan}")
        put = object.__setattr__
        for name in ("targets", "low", "high"):
            put(self, name, as_numbers(getattr(self, name), name))
        caps = np.asarray(self.caps, np.float64)
        put(self, "caps", np.full(self.k, np.inf) if caps.size == 0 else caps)
        for name in ("low", "high", "caps"):
            if getattr(self, name).shape != (self.k,):
                raise InputError(f"{name} has shape {getattr(self, name).shape}, not ({self.k},)")
        if self.k == 0:
            raise InputError("a contract needs at least one block")
        wrong = ~((self.low >= 0) & (self.low <= self.high) & (self.caps > 0))
        if wrong.any():
            b = int(np.argmax(wrong))
            raise InputError(
                f"block {b} has limits {self.low[b]} <= weight <= {self.high[b]} and "
                f"{self.caps[b]} bytes, which no block satisfies"
            )
        if any(one.targets.size != self.k for one in self.further):
            raise InputError(f"the limits of a further weight must have {self.k} blocks")

    def __repr__(self) -> str:
        capped = int(np.isfinite(self.caps).sum())
        memory = f"memory of {capped:,} capped" if capped else "no memory capped"
        first = [plural(self.k, "block"), f"targets {spread(self.targets)}", memory]
        second = [f"low {spread(self.low)}", f"high {spread(self.high)}"]
        if self.further:
            first.append(f"{self.n_constraints} weights")
        if np.isfinite(self.makespan):
            second.append(f"done within {duration(self.makespan)}")
        return two_lines("Contract", first, second)

    @property
    def k(self) -> int:
        """Number of blocks."""
        return int(self.targets.size)

    @property
    def n_constraints(self) -> int:
        """Number of weights that have limits."""
        return 1 + len(self.further)

    @property
    def shares_of_zero(self) -> npt.NDArray[np.bool_]:
        """Whether a block must have zero weight, (k,)."""
        return np.asarray(self.table("high").max(axis=1) == 0)

    def table(self, name: Literal["targets", "low", "high"]) -> FloatArray:
        """Return the targets, low or high of all c weights, (k, c) [units].

        name: "targets", "low" or "high".
        """
        return np.stack([getattr(one, name) for one in (self, *self.further)], axis=1)

    def keeps(self, weights: FloatArray, sizes: npt.NDArray[np.int64], n_bytes: FloatArray
              ) -> npt.NDArray[np.bool_]:  # fmt: skip
        """Return whether blocks of these weights [units], sizes and bytes keep the contract, (k,).

        weights (k,), or (k, c) if vertices have c weights; sizes (k,): numbers of vertices.
        """
        weights = np.asarray(weights).reshape(self.k, self.n_constraints)
        targets = self.table("targets")
        slack = RELATIVE_SLACK * np.maximum(np.abs(targets), 1e-300)
        within = (weights >= self.table("low") - slack) & (weights <= self.table("high") + slack)
        fits = within.all(axis=1) & (n_bytes <= self.caps * (1 + RELATIVE_SLACK))
        if self.may_be_unused:
            return np.asarray(fits | (sizes == 0))
        return np.asarray(fits & ((sizes > 0) | self.shares_of_zero))

    def in_time(self, ends: FloatArray) -> npt.NDArray[np.bool_]:
        """Return whether devices that finish at ends (k,) [s] keep the makespan, (k,)."""
        return np.asarray(ends <= self.makespan * (1 + TIME_SLACK))


@dataclass(frozen=True, eq=False)
class Partition:
    """Which of k blocks each vertex is in: part (n,) int32. Raises InputError on other ids."""

    part: npt.NDArray[np.int32]
    k: int

    def __post_init__(self) -> None:
        if not 1 <= self.k < 2**31:
            raise InputError(
                f"a partition must have at least 1 and at most 2^31 - 1 blocks, not {self.k}"
            )
        part: npt.NDArray[Any] = self.part
        if not (isinstance(part, np.ndarray) and part.dtype == np.int32 and part.ndim == 1):
            part = as_integers(part, "part")
        if part.size and (part.min() < 0 or part.max() >= self.k):
            v = int(np.argmax((part < 0) | (part >= self.k)))
            from_one = part.min() == 1 and part.max() == self.k
            raise InputError(
                f"vertex {v} is in block {part[v]}, but {self.k} blocks are numbered from 0 to "
                f"{self.k - 1} (vertices are counted from 0, too)",
                hint=f"If blocks are numbered from 1 to {self.k}, subtract 1."
                if from_one
                else None,
            )
        object.__setattr__(self, "part", part.astype(np.int32))

    def __repr__(self) -> str:
        # Only blocks that occur are counted: k may be up to 2^31.
        sizes = np.unique(self.part, return_counts=True)[1]
        empty = self.k - sizes.size
        first = plural(self.n, "vertex", "vertices"), plural(self.k, "block")
        blocks = [f"{spread(sizes)} vertices in each"] if sizes.size else []
        return two_lines("Partition", first, [*blocks, f"{empty:,} of them empty"])

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.part.size)

    def checked_for(self, n: int) -> Partition:
        """Return self if it is a partition of n vertices; else raise InputError."""
        if self.n != n:
            raise InputError(
                f"the partition has {self.n:,} entries, but the graph has {n:,} vertices"
            )
        return self


@dataclass(frozen=True)
class MappingScore:
    """The objectives of a mapping, in this order: predicted makespan [s], bytes x hops [B]."""

    seconds: float
    hop_bytes: float


@dataclass(frozen=True, eq=False)
class Mapping:
    """The device of each of k blocks: device (k,) int64, with the score before and after.

    Raises InputError if two blocks are on one device.
    """

    device: npt.NDArray[np.int64]
    before: MappingScore
    after: MappingScore

    def __post_init__(self) -> None:
        device = as_integers(self.device, "device")
        if device.ndim != 1 or not np.array_equal(np.sort(device), np.arange(device.size)):
            raise InputError("a mapping must use every device once")
        object.__setattr__(self, "device", device.astype(np.int64))

    def __repr__(self) -> str:
        return brief(self)

    @property
    def moved(self) -> int:
        """Number of blocks b that are not on device b."""
        return int((self.device != np.arange(self.device.size)).sum())

    def applied(self, partition: Partition) -> Partition:
        """Return the partition with every block renumbered to its device's number."""
        if partition.k != self.device.size:
            raise InputError(
                f"the mapping has {self.device.size} blocks, but the partition has {partition.k}"
            )
        return Partition(self.device.astype(np.int32)[partition.part], partition.k)
