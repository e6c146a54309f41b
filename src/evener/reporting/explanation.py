"""Explain a plan in a few lines: the slowest device, other candidates, helpful changes."""

from __future__ import annotations

from evener.planning.bottleneck import bottleneck_of
from evener.plans.plan import Plan
from evener.reporting.headline import bottleneck_sentence, change_rows
from evener.reporting.stages import beside
from evener.reporting.tables import time_remarks
from evener.wording import units

SHOWN_CHANGES = 4  # as `evener plan` prints


def explanation(plan: Plan) -> str:
    """Return the lines of `Plan.explain`."""
    judged, platform = plan.evaluation, plan.platform
    lines = [plan.verdict(), *time_remarks(platform, float(plan.certificate.weights.sum()))]
    if rivals := beside(plan):
        lines.append(rivals)
    if platform.has_links:  # else the time is only computing
        slowest = bottleneck_of(judged, platform, plan.workload)
        lines.append(bottleneck_sentence(slowest))
        for change, seconds, saved in change_rows(slowest, SHOWN_CHANGES):
            lines.append(f"  {change}: {seconds} ({saved})")
    volumes = f"total volume {judged.total_volume:,}, largest volume {judged.max_volume:,}"
    lines.append(f"Edge cut {units(judged.edge_cut)}, {volumes}.")
    return "\n".join([*lines, *plan.notes])
