"""StreamPlan: the processor of each filter of a stream graph, and the time of an iteration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evener.arrays import FloatArray, IntArray, Part
from evener.graphs.stream_graph import StreamGraph
from evener.platforms.platform import Platform
from evener.wording import duration, plural, two_lines


@dataclass(frozen=True, eq=False)
class StreamPlan:
    """Filters on the devices of a platform.

    part (n,) int32: the device of each filter of `graph`, in the file's order. period [s]: of the
    busiest device, `bottleneck`; bound [s]: lower bound on the period of any mapping. computing,
    communicating (k,) [s]: of the devices in an iteration. links [s]: the time for which a link
    carries bytes, by its name; only the busiest links. options: all options that influenced the
    result; inputs: file name -> SHA-256; versions; notes; cpu_seconds: CPU time to make the plan,
    None if it was read from a file. copy_of (n,): if filters have copies, `graph` contains the
    copies, and copy_of is the application's filter of each; successive copies of a filter share its
    data in proportion to their `vector`. None: no copies.
    """

    part: Part
    graph: StreamGraph
    platform: Platform
    period: float
    bound: float
    computing: FloatArray
    communicating: FloatArray
    links: Mapping[str, float]
    options: Mapping[str, Any]
    inputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cpu_seconds: float | None = None
    copy_of: IntArray | None = None

    def __repr__(self) -> str:
        first = f"{len(self.names):,} filters", f"{self.platform.k:,} devices"
        return two_lines("StreamPlan", first, [f"period {duration(self.period)}"])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the filters."""
        return self.graph.names

    @property
    def loads(self) -> FloatArray:
        """Seconds of each device in an iteration, by the plan's cost model, (k,)."""
        if self.options.get("overlap"):
            return np.maximum(self.computing, self.communicating)
        return np.asarray(self.computing + self.communicating)

    @property
    def bottleneck(self) -> str:
        """Name of the device with the longest iteration."""
        return self.platform.names[int(np.argmax(self.loads))]

    @property
    def used(self) -> int:
        """Number of devices that have a filter."""
        return int(np.unique(self.part).size)

    def verdict(self) -> str:
        """Return the plan's result in one sentence."""
        ratio = "" if self.bound <= 0 else f", {self.period / self.bound:.2f} of its lower bound"
        copied = ""
        if self.copy_of is not None:
            several = int(np.count_nonzero(np.bincount(self.copy_of) > 1))
            copied = f" {plural(several, 'filter')} in copies."
        return (
            f"Period {duration(self.period)}{ratio}; {self.bottleneck} is busiest; "
            f"{self.used:,} of {self.platform.k:,} devices have filters.{copied}"
        )
