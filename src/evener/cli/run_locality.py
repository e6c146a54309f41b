"""What `evener run --locality` says: where vertices changed their order, and when that paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.running.engine.recording import Reordering
    from evener.running.program_run import ProgramRun


def say_reorderings(run: ProgramRun, names: Sequence[str], out: Output) -> list[dict[str, Any]]:
    """Print a line for each device; return the same for --json, numbers not measured as None."""
    found = []
    for name, one in zip(names, run.reorderings, strict=True):
        out.say(f"Locality, {name}: {_sentence(one)}")
        found.append({"device": name, **_as_numbers(one)})
    return found


def _sentence(one: Reordering) -> str:
    from evener.wording import duration

    if one.step is None and not one.seconds > 0:
        return "the order of its vertices was kept; the run was too short to look for a better one."
    search = f"{duration(one.seconds)} of CPU time"
    if one.step is None:
        return f"the order of its vertices was kept; looking for a better one took {search}."
    when = "before the run" if one.step == 0 else f"after superstep {one.step:,}"
    if not one.before > 0 or not one.after > 0:
        return f"vertices were put in another order {when}, which took {search}."
    change = f"computing {duration(one.before)} a superstep before, {duration(one.after)} then"
    if not one.is_kept:
        return f"another order {when} was slower ({change}) and was given up; it took {search}."
    paid = f"paid for after {one.break_even:,.0f} supersteps"
    return f"vertices were put in another order {when}: {change}; it took {search}, {paid}."


def _as_numbers(one: Reordering) -> dict[str, Any]:
    measured = one.before > 0 and one.after > 0
    return {
        "seconds": one.seconds,
        "step": one.step,
        "before": one.before if measured else None,
        "after": one.after if measured else None,
        "is_kept": one.is_kept,
        "break_even": one.break_even if measured and one.after < one.before else None,
    }
