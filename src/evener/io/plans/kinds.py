"""Kinds of plans: of vertices, of edges, of filters; a file's manifest states its kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evener.io.plans.archived import format_in
from evener.io.plans.manifest import EDGE_FORMAT, STREAM_FORMAT

if TYPE_CHECKING:
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.plan import Plan
    from evener.plans.stream_plan import StreamPlan

VERTICES, EDGES, FILTERS = "vertices", "edges", "filters"
_KINDS = {EDGE_FORMAT: EDGES, STREAM_FORMAT: FILTERS}


def kind_in(path: str | Path) -> str:
    """Return what the plan in a file divides, whatever the plan's version.

    VERTICES also for files that are no plans or cannot be read; reading them raises the error.
    """
    return _KINDS.get(format_in(path), VERTICES)


def read_any_plan(path: str | Path) -> Plan | EdgePlan | StreamPlan:
    """Read a plan of any kind. Raises InputError if the file is not one, or is damaged."""
    from evener.io.plans.edge_plan import read_edge_plan
    from evener.io.plans.plan import read_plan
    from evener.io.plans.stream_plan import read_stream_plan

    kind = kind_in(path)
    if kind == FILTERS:
        return read_stream_plan(path)
    return read_edge_plan(path) if kind == EDGES else read_plan(path)
