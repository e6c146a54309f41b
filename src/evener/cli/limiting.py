"""What limits a partition, as commands print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans import Evaluation
    from evener.platforms import Platform
    from evener.workloads import Workload

SHOWN = 4  # changes; --json and the report have more


def print_limits(judged: Evaluation, platform: Platform, workload: Workload, out: Output) -> None:
    """Say what the last device is busy with, and what would help most; nothing without links."""
    from evener.limits import limits_of
    from evener.reporting import limiting

    if not platform.has_links:
        return
    limits = limits_of(judged, platform, workload)
    out.say(limiting.sentence(limits))
    rows = limiting.rows(limits, SHOWN)
    if rows:
        out.table(list(limiting.COLUMNS), [list(row) for row in rows])


def limits_to_dict(judged: Evaluation, platform: Platform, workload: Workload) -> dict[str, Any]:
    """Return the limits as JSON takes them."""
    from evener.limits import limits_of
    from evener.reporting import limiting

    return limiting.to_dict(limits_of(judged, platform, workload))
