"""What `evener run` prints: a row for each device, and a summary; the same for --json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from evener.cli.divisions import Division

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.cli.run_programs import Asked
    from evener.rebalancing.run_rebalancer import RunRebalancer
    from evener.running.checkpoints import Checkpoints
    from evener.running.emulated_run import EmulatedMachineRun
    from evener.running.engine.recording import Reordering
    from evener.running.program_run import ProgramRun


SHOWN = 40  # devices in the table
# Columns of seconds; an emulated machine has the second of them for the third and the last.
TIMES = ("computing", "communicating", "packing", "waiting", "unpacking")
EMULATED_TIMES = ("computing", "communicating", "waiting")


@dataclass(frozen=True)
class RunFound:
    """A run, its emulated run, its checkpoints, and its rebalancer.

    All but the run are None if not requested.
    """

    run: ProgramRun
    emulated: EmulatedMachineRun | None = None
    kept: Checkpoints | None = None
    adviser: RunRebalancer | None = None

    @property
    def seconds(self) -> float:
        """Seconds of all supersteps, on the emulated machine if there is one."""
        return self.run.seconds if self.emulated is None else self.emulated.seconds


def say(
    asked: Asked, division: Division, found: RunFound, right: bool | None, out: Output
) -> dict[str, Any]:
    """Print a row for each device and a summary; return the same for --json."""
    from evener.wording import duration, plural

    devices = _devices(division, found)
    times = [name for name in TIMES if name in devices[0]]
    rows = [
        [device["name"], *(duration(device[name]) for name in times),
         f"{device['sent'] / 1e6:,.2f} MB", f"{device['edges']:,.0f}"]
        for device in devices
    ]  # fmt: skip
    columns = ("device", *times, "sent", "arcs visited")
    if division.made is not None:
        columns += ("needs", "memory left")
        left = division.made.memory_left.tolist()
        for row, n_bytes, part in zip(rows, division.made.n_bytes.tolist(), left, strict=True):
            row += [f"{n_bytes / 1e6:,.2f} MB", "-" if isnan(part) else f"{part:.1%}"]
    out.table(columns, rows, most=SHOWN, what="devices")
    steps, seconds, run = found.run.supersteps - found.run.first, found.seconds, found.run
    rate = "" if seconds <= 0 else f", {steps / seconds:,.0f} per second"
    arcs = "" if seconds <= 0 else f"; {run.edges / seconds / 1e6:,.1f} million arcs per second"
    where = "" if found.emulated is None else " on the emulated machine"
    name = asked.program.name
    of = f"{name}, {division.name}" if division.is_made_here else name
    out.say(f"{of}: {plural(steps, 'superstep')} in {duration(seconds)}{where}{rate}{arcs}.")
    if run.first:
        out.say(f"Continued after {plural(run.first, 'superstep')}.")
    moves = [] if found.adviser is None else _say_moves(run, found.adviser, out)
    ordered = say_reorderings(run, division.platform.names, out) if run.reorderings else []
    if found.kept is not None:
        spent = f" of {duration(seconds)}" if found.kept.written else ""
        written = plural(found.kept.written, "checkpoint")
        out.say(f"{written} written in {duration(found.kept.took)}{spent}.")
    if division.made is not None:
        out.say(division.sentence())
    summary = (
        {} if asked.app is None or asked.app.summary is None else asked.app.summary(run.values)
    )
    for what, number in summary.items():
        out.say(f"{what.capitalize()}: {number:,}.")
    if right is not None:
        out.say(
            "Verified by another algorithm." if right else "WRONG according to another algorithm."
        )
    by: dict[str, Any] = {"by": division.to_dict()} if division.is_made_here else {}
    if found.kept is not None:
        by |= {"checkpoints": found.kept.written, "checkpoint_seconds": found.kept.took}
    if found.adviser is not None:
        by |= {"rebalancings": moves, "asking_seconds": run.asking,
               "checks": [one._asdict() for one in found.adviser.checks]}  # fmt: skip
    if ordered:
        by |= {"reorderings": ordered}
    if run.first:
        by |= {"continued_after": run.first}
    return {"program": name, "seconds": seconds, "supersteps": run.supersteps, "edges": run.edges,
            "verified": right, "summary": summary, "devices": devices, **by}  # fmt: skip


def _say_moves(run: ProgramRun, adviser: RunRebalancer, out: Output) -> list[dict[str, Any]]:
    """Print when vertices moved, how long it took, and what it saved; return it for --json."""
    from evener.wording import duration, plural

    told = []
    for number, move in enumerate(run.moves):
        vertices, gain = plural(move.vertices, "vertex", "vertices"), adviser.gains.get(number)
        saved = "" if gain is None else f"; {_saved(gain.realized)}"
        out.say(
            f"Rebalanced after superstep {move.step:,}: {vertices} changed device in "
            f"{duration(move.seconds)}, predicted to save {duration(move.saving)} a superstep"
            f"{saved}."
        )
        learnt = None if gain is None else gain._asdict()
        own = {name: learnt and learnt[name] for name in ("realized", "share", "trust")}
        told.append(asdict(move) | own)
    done = "" if run.moves else "No vertex changed device. "
    out.say(f"{done}Checks whether to rebalance took {duration(run.asking)} in total.")
    return told


def _saved(seconds: float) -> str:
    """Return the measured saving per superstep as text."""
    from evener.wording import duration

    if seconds < 0:
        return f"measured, a superstep takes {duration(-seconds)} longer"
    return f"measured, it saves {duration(seconds)}"


def _devices(division: Division, found: RunFound) -> list[dict[str, Any]]:
    """Return a dict for each device: its name, and the sum of each quantity over supersteps."""
    sums: dict[str, Any] = {
        name: found.run.of_devices(name).sum(axis=0)
        for name in ("sent", "edges", *(() if found.emulated else TIMES[:1] + TIMES[2:]))
    }
    if found.emulated is not None:
        sums |= {name: getattr(found.emulated, name).sum(axis=0) for name in EMULATED_TIMES}
    return [
        {"name": name, **{key: float(values[i]) for key, values in sums.items()}}
        for i, name in enumerate(division.platform.names)
    ]


def say_reorderings(run: ProgramRun, names: Sequence[str], out: Output) -> list[dict[str, Any]]:
    """Print a line for each device; return its numbers for --json, None if unmeasured."""
    found = []
    for name, one in zip(names, run.reorderings, strict=True):
        out.say(f"Locality, {name}: {_sentence(one)}")
        found.append({"device": name, **_as_numbers(one)})
    return found


def _sentence(one: Reordering) -> str:
    from evener.wording import duration

    if one.step is None and not one.seconds > 0:
        return "vertices keep their order; the run was too short to search for a better order."
    search = f"{duration(one.seconds)} of CPU time"
    if one.step is None:
        return f"vertices keep their order; the search for a better order took {search}."
    when = "before the run" if one.step == 0 else f"after superstep {one.step:,}"
    if not one.before > 0 or not one.after > 0:
        return f"vertices were reordered {when}, which took {search}."
    change = f"a superstep computes {duration(one.before)} before, {duration(one.after)} after"
    if not one.is_kept:
        return (
            f"another order {when} was slower ({change}) and was undone; the search took {search}."
        )
    paid = f"which pays off after {one.break_even:,.0f} supersteps"
    return f"vertices were reordered {when}: {change}; the search took {search}, {paid}."


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
