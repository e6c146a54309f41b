"""What limits a partition, as commands print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans import Evaluation
    from evener.platforms import Platform
    from evener.workloads import Workload

SHOWN = 4  # changes; --json and the report have more


def say_limits(
    judged: Evaluation, platform: Platform, workload: Workload, out: Output
) -> dict[str, Any]:
    """Say what the last device is busy with and what would help most, nothing without links;
    return it as JSON takes it.
    """
    from evener.limits import limits_of
    from evener.reporting import limiting

    limits = limits_of(judged, platform, workload)
    if platform.has_links:
        out.say(limiting.sentence(limits))
        rows = limiting.rows(limits, SHOWN)
        if rows:
            out.table(list(limiting.COLUMNS), [list(row) for row in rows])
    return limiting.to_dict(limits)
