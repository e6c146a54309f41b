"""Another tool's partition beside the plan's: on the screen and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans import Plan, Rival, Stage

COLUMNS = ("", "cut", "max vol", "total vol", "neighbours", "block/target", "predicted", "CPU s")
KEYS = ("edge_cut", "max_volume", "total_volume", "neighbours")


def print_versus(made: Plan, rival: Rival, out: Output) -> None:
    """Print both tools' figures and their ratios; or why there is nothing to compare."""
    if rival.stages:
        out.say("")
        out.table(COLUMNS, _rows(made, rival))
    if rival.note:
        out.say(f"{rival.tool}: {rival.note}")


def rival_to_dict(made: Plan, rival: Rival) -> dict[str, Any]:
    """Return the rival's figures as JSON takes them; `ratios` are the plan's to the rival's."""
    return asdict(rival) | {"ratios": ratios(made, rival)}


def ratios(made: Plan, rival: Rival) -> dict[str, float | None]:
    """Return the plan's figures over the rival's, enforced if need be; None where that is 0."""
    if not rival.stages:
        return {}
    mine, theirs = _own(made), rival.stages[-1]
    found = {key: _over(getattr(mine, key), getattr(theirs, key)) for key in KEYS}
    seconds = _over(made.prediction.makespan, rival.seconds)
    return found | {"seconds": seconds, "cpu_seconds": _over(made.cpu_seconds, rival.cpu_seconds)}


def _rows(made: Plan, rival: Rival) -> list[list[str]]:
    from evener.durations import time_of
    from evener.reporting.numbers import NOTHING, ratio
    from evener.reporting.stages import rival_name

    last = len(rival.stages) - 1
    ideal = made.platform.relative_ideal(float(made.certificate.weights.sum()))
    own = time_of(made.prediction.makespan, ideal)
    theirs = NOTHING if rival.seconds is None else time_of(rival.seconds, ideal)
    rows = [_figures(made.tool, _own(made), own, made.cpu_seconds)]
    for i, stage in enumerate(rival.stages):
        # The repair's time is nobody's; what is predicted is predicted of the last.
        seconds = theirs if i == last else ""
        rows.append(
            _figures(rival_name(rival, i), stage, seconds, None if i else rival.cpu_seconds)
        )
    shown = {key: ratio(value) for key, value in ratios(made, rival).items()}
    rows.append(
        [f"{made.tool} / {rival.tool}", *(shown[key] for key in KEYS), "", shown["seconds"],
         shown["cpu_seconds"]]
    )  # fmt: skip
    return rows


def _figures(name: str, stage: Stage, seconds: str, cpu_seconds: float | None) -> list[str]:
    return [
        name,
        f"{stage.edge_cut:,.6g}",
        f"{stage.max_volume:,}",
        f"{stage.total_volume:,}",
        f"{stage.neighbours:,}",
        f"{stage.smallest:.3f} to {stage.largest:.3f}",
        seconds,
        "" if cpu_seconds is None else f"{cpu_seconds:.2f}",
    ]


def _own(made: Plan) -> Stage:
    from evener.evaluating import stage_of

    return stage_of(made.tool, made.evaluation)


def _over(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours is not None and theirs else None
