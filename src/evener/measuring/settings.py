"""What one measurement is of: kernel, devices, loads, precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from evener.measuring.adaptive import TOLERANCE
from evener.measuring.devices import Measured
from evener.measuring.outcomes import Precision

if TYPE_CHECKING:
    from evener.graphs import Graph


@dataclass(frozen=True)
class Settings:
    """What is measured, where, at which loads, how well.

    loads: all of a grid; with `adaptive`, the least and the largest, and no more than so many are
    measured between them. total [units]: the work whose division is to be known best, if any;
    tolerance: the relative change of sizes that ends it.
    memory [B]: what each device's kernel may take. options: of the kernel. graph: its matrix, in
    place of a generated one; source says where that is from.
    """

    kernel: str
    devices: tuple[Measured, ...]
    loads: tuple[int, ...]
    precision: Precision
    memory: float
    options: Mapping[str, Any] = field(default_factory=dict)
    together: bool = True
    graph: Graph | None = None
    source: str = ""
    model: str = "piecewise"
    adaptive: int = 0
    total: int | None = None
    tolerance: float = TOLERANCE

    @property
    def lasting(self) -> dict[str, Any]:
        """What must be equal for a journal's outcomes to be reused; memory may differ.

        Loads as well: what another grid does not have would be dropped with the journal.
        """
        return {
            "kernel": self.kernel,
            "loads": _abridged(self.loads),
            "precision": asdict(self.precision),
            "options": dict(self.options),
            "together": self.together,
            "source": self.source,
            "adaptive": self.adaptive,
            "total": self.total,
            "tolerance": self.tolerance,
        }


def _abridged(loads: Sequence[int]) -> str:
    """Tell grids apart, however long: "1000, 1080, to 1000000 (91)"."""
    return f"{', '.join(map(str, loads[:2]))}, to {max(loads)} ({len(loads)})"
