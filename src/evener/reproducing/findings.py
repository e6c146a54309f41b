"""What a paper says beside what we see; and what its plots show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Row = Mapping[str, float | int | str]


@dataclass(frozen=True)
class Finding:
    """One statement of a paper. where: its table or figure. holds: whether we see it too."""

    where: str
    paper: str
    ours: str
    holds: bool


@dataclass(frozen=True)
class Panel:
    """Lines over x: label to values of y, as many as x has; nan where there is nothing."""

    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    log_y: bool = False


@dataclass(frozen=True)
class Plot:
    """Panels that are one picture, whose file is called name.png."""

    name: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Result:
    """Findings of an experiment, its plots, and its numbers as rows of a table."""

    findings: Sequence[Finding]
    plots: Sequence[Plot] = ()
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
