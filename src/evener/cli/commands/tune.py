"""`evener tune`: measure an MPI program on a plan's blocks; plan again with measured speeds."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.cli.graph_options import (
    ReadOptions,
    add_rereading_options,
    read_again,
)
from evener.cli.machines import MAX_ROWS
from evener.cli.options import add_options, option, options_from
from evener.cli.values import page, refuse_outputs
from evener.errors import ToolError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io.read import Reading
    from evener.plans.plan import Plan
    from evener.platforms.models.samples import DeviceSpeeds
    from evener.reporting.tuning import TuningRound
    from evener.tuning.measured import Measured

ROUNDS = 3
FASTER = 0.99  # times the seconds of a step, below which a plan counts as faster


@dataclass(frozen=True)
class TuneOptions:
    """What is measured, how often, and where results are written.

    program: words of the launcher's command, or of the program, which `evener launch` then starts.
    prepare: a command that installs a plan in the program's case; {plan} in it is replaced by the
    plan's file. None: one measurement, and the new plan is not tried.
    """

    plan: str = option("the plan whose blocks the program uses", "plan", metavar="PLAN")
    graph: str | None = option(
        "the file the plan was made from (default: as recorded, beside the plan or here)",
        "graph", nargs="?", metavar="GRAPH",
    )  # fmt: skip
    program: tuple[str, ...] = ()
    output: str | None = option("write the new plan to this file", "-o", "--output", metavar="FILE")
    samples: str | None = option("write a speeds file, for `evener plan --speeds`", metavar="FILE")
    prepare: str | None = option(
        "command that puts a plan into the program's case; {plan} stands for the plan's file. New "
        "plans are then measured, and taken only if a step takes 1 %% less", metavar="COMMAND",
    )  # fmt: skip
    rounds: int = option(
        f"maximum number of new plans to measure, with --prepare (default {ROUNDS})",
        type=int, default=ROUNDS, metavar="R",
    )  # fmt: skip
    seconds: float | None = option(
        "end each run after S seconds, by SIGTERM", type=float, metavar="S"
    )
    step_every: int | None = option(
        "a step is N calls of MPI_Allreduce (default: detected)", type=int, metavar="N"
    )
    folder: str | None = option(
        "folder that all ranks share, for their measurements (default: temporary)",
        metavar="FOLDER",
    )
    report: str | None = option(
        "write an HTML page: what each rank did, before and after", type=page, metavar="X.html"
    )
    reading: ReadOptions = field(default_factory=ReadOptions)


class TunedRound(NamedTuple):
    """A plan, and the measurements of the program on its blocks."""

    plan: Plan
    measured: Measured


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options; the words of the launcher's command come after `--`."""
    add_options(parser, TuneOptions)
    parser.set_defaults(program=[])
    add_rereading_options(parser)


def _options_from(args: argparse.Namespace) -> TuneOptions:
    """Return the options. Raises UsageError if they are invalid."""
    if not args.program:
        raise UsageError(
            "no program is given",
            hint="Write its command last: evener tune X.plan -- mpirun -n 4 ./solver",
        )
    for name, value in (("rounds", args.rounds), ("step-every", args.step_every)):
        if value is not None and value < 1:
            raise UsageError(f"--{name} must be above zero, not {value:,}")
    if args.seconds is not None and not 0 < args.seconds < float("inf"):
        raise UsageError(f"--seconds must be above zero, not {args.seconds:g}")
    if args.prepare is not None and "{plan}" not in args.prepare:
        raise UsageError(
            "the command of --prepare must contain {plan}",
            hint="{plan} stands for the plan's file: --prepare './prepare.sh {plan}'.",
        )
    return options_from(args, TuneOptions, program=tuple(args.program))


def run(args: argparse.Namespace, out: Output) -> int:
    """Measure and plan again; with --prepare repeat for new plans until devices are balanced."""
    from evener.cli.commands.launch import LaunchOptions, launch_words
    from evener.files.temporary import private_folder
    from evener.integrations.launching.launchers import is_launcher
    from evener.io.machines.speeds import write_speeds
    from evener.io.plans.plan import read_plan, write_plan

    options = _options_from(args)
    plan = read_plan(options.plan)
    if plan.options.get("sliced") is not None:
        raise UsageError(
            "was made slice by slice; tune plans again in memory only",
            file=options.plan,
            hint="Use --samples, then `evener plan --memory ... --speeds FILE`.",
        )
    path = options.graph or _recorded_file(plan, options.plan)
    outputs = [one for one in (options.output, options.samples, options.report) if one is not None]
    refuse_outputs(outputs, [options.plan, path])
    speeds: list[DeviceSpeeds] = []
    with private_folder(options.folder) as folder:
        if not is_launcher(options.program[0]):
            launched = LaunchOptions(options.plan, options.program, mpirun=())
            options = replace(options, program=launch_words(launched, folder, out))
        try:
            rounds, best = _rounds(plan, path, options, folder, speeds, out)
        finally:  # what was measured is saved, also if a later run of the program fails
            if options.samples is not None and speeds:
                write_speeds(options.samples, speeds)
    if options.output is not None and best is not plan:
        write_plan(options.output, best)
    _end(best, rounds, options, out)
    return 0


def _rounds(
    plan: Plan,
    path: str,
    options: TuneOptions,
    folder: Path,
    speeds: list[DeviceSpeeds],
    out: Output,
) -> tuple[list[TunedRound], Plan]:
    """Return the measured rounds and the plan to use; `speeds` gets the samples of all rounds.

    Without --prepare, the plan to use is not measured. With --prepare, the program's case contains
    that plan at the end; if a run fails, the case contains the fastest plan so far.
    """
    from evener.cli.oddities import notes_on
    from evener.io.plans.plan import write_plan
    from evener.tuning.again import tuned

    best = TunedRound(plan, _measured(plan, options, folder / "0", out, speeds))
    rounds, file = [best], Path(options.plan)
    _say(best, out)
    reading: Reading | None = None
    for number in range(1, options.rounds + 1):
        if rounds[-1].measured.is_even:
            break
        reading = reading or read_again(path, plan, options.reading, out, options.plan)
        with out.progress("Planning") as progress:
            new = tuned(plan, speeds, reading, notes=tuple(notes_on(reading)), progress=progress)
        if options.prepare is None:
            return rounds, new
        new_file = folder / f"{number}.plan"
        write_plan(new_file, new)
        is_faster = False
        try:
            _prepare(options.prepare, new_file, out)
            tried = TunedRound(new, _measured(new, options, folder / str(number), out, speeds))
            rounds.append(tried)
            _say(tried, out)
            is_faster = tried.measured.seconds < FASTER * best.measured.seconds
        finally:
            if not is_faster:
                _prepare(options.prepare, file, out)
        if not is_faster:
            out.note("note: the new plan is not faster, so the previous plan is in the case again")
            break
        best, file = tried, new_file
    return rounds, best.plan


def _recorded_file(plan: Plan, file: str) -> str:
    """Return the file that a plan was made from, in the plan's folder or the current one."""
    name = next(iter(plan.inputs), None)
    if name is not None:
        for place in (Path(file).parent / name, Path(name)):
            if place.exists():
                return str(place)
    raise UsageError(
        f"the file that {file} was made from is not found{'' if name is None else f': {name}'}",
        hint="Give it after the plan: evener tune X.plan GRAPH -- mpirun ...",
    )


def _measured(
    plan: Plan, options: TuneOptions, folder: Path, out: Output, speeds: list[DeviceSpeeds]
) -> Measured:
    """Run the program, measure its ranks, and add their samples to `speeds`.

    Raises ToolError if the program fails; samples of its steps until then are added.
    """
    from evener.tuning.again import speeds_of_blocks
    from evener.tuning.measured import Measured, joined
    from evener.tuning.running import run_measured
    from evener.tuning.steps import steps_of

    folder.mkdir()
    k = plan.platform.k
    with out.progress("Running the program"):
        traces, code = run_measured(options.program, k, folder, options.seconds)
    measured = None
    try:
        steps = steps_of(traces, options.step_every)
        epsilon = float(plan.options["epsilon"])
        measured = Measured(steps, plan.certificate.weights, epsilon, traces)
        count = len(steps.seconds)
        found = speeds_of_blocks(plan, measured.computing, measured.half_widths, count)
        speeds[:] = joined(speeds, found)
    finally:
        if code:
            last = (folder / "output.log").read_text(errors="replace").strip().split("\n")[-1]
            raise ToolError(f"the program ended with exit code {code}: {last[:200]}")
    return measured


def _prepare(command: str, plan: Path, out: Output) -> None:
    """Run the user's command that installs the plan. Raises ToolError if the command fails."""
    import subprocess

    words = command.replace("{plan}", shlex.quote(str(plan)))
    with out.progress("Preparing the case"):
        done = subprocess.run(
            words, shell=True, capture_output=True, text=True, errors="replace", check=False
        )
    if done.returncode:
        last = (done.stderr or done.stdout).strip().split("\n")[-1][:200]
        raise ToolError(f"--prepare ended with exit code {done.returncode}: {last}")


def _say(one: TunedRound, out: Output) -> None:
    """Print the times of each rank in a round."""
    measured, steps = one.measured, one.measured.steps
    if steps.mark is None:
        out.note(
            "note: no steps were detected, because collective calls do not repeat: seconds are "
            f"those of {len(steps.seconds)} equal pieces of the run; --step-every N defines steps"
        )
    rows = [
        [rank, device.name, f"{measured.units[rank]:,.0f}", f"{measured.computing[rank]:.3g}",
         f"{measured.half_widths[rank]:.1g}", f"{measured.waiting[rank]:.3g}",
         f"{measured.speeds[rank]:,.4g}" if measured.units[rank] else ""]
        for rank, device in enumerate(one.plan.platform.devices)
    ]  # fmt: skip
    columns = "rank", "device", "units", "computing, s", "+-", "in MPI, s", "units/s"
    out.table(columns, rows, most=MAX_ROWS, what="ranks")
    gain, low, high = measured.gain
    marked = "" if steps.mark is None else f" ({steps.found:,} steps; one is {steps.mark})"
    out.say(f"A step takes {measured.seconds:.4g} s{marked}.")
    out.say(
        f"Blocks sized by these speeds are predicted to be {gain:.2f} times as fast ({low:.2f} "
        f"to {high:.2f})."
    )
    for reason in measured.reasons:
        out.say(f"  {reason}")


def _end(best: Plan, rounds: list[TunedRound], options: TuneOptions, out: Output) -> None:
    """Print the result of all rounds."""
    first = rounds[0]
    taken = next((i for i, one in enumerate(rounds) if one.plan is best), None)
    out.result({
        "rounds": [_facts(one) for one in rounds],
        "taken": taken,
        "output": options.output if taken != 0 else None,
        "samples": options.samples,
    })  # fmt: skip
    if taken == 0:
        verdict = "The plan stays as it is."
    elif taken is None:
        verdict = "The new plan is not measured: put it into the case and run evener tune again."
    else:
        ratio = first.measured.seconds / rounds[taken].measured.seconds
        verdict = f"The new plan is {ratio:.2f} times as fast as the first, as measured."
    out.say(verdict)
    if options.report is not None:
        _report(rounds, verdict, options)
    written = [options.output if taken != 0 else None, options.report]
    if names := ", ".join(name for name in written if name is not None):
        out.say(f"Written: {names}")


def _report(rounds: list[TunedRound], verdict: str, options: TuneOptions) -> None:
    from evener.reporting.tuning import write_tuning

    assert options.report is not None
    steps = rounds[0].measured.steps
    write_tuning(
        options.report,
        [_round_of(one) for one in rounds],
        verdict.rstrip("."),
        shlex.join(options.program),
        steps.mark or f"one of {len(steps.seconds)} equal pieces of the run",
    )


def _round_of(one: TunedRound) -> TuningRound:
    """Return a round for the page."""
    from evener.reporting.tuning import TuningRound

    measured, steps = one.measured, one.measured.steps
    return TuningRound(
        one.plan.platform.names, measured.units, steps.seconds.mean(axis=1), steps.computing,
        steps.exchanging, steps.collective, measured.gain, measured.reasons,
    )  # fmt: skip


def _facts(one: TunedRound) -> dict[str, Any]:
    """Return the facts of a round for --json."""
    measured = one.measured
    gain, low, high = measured.gain
    return {
        "step": measured.steps.mark, "steps": measured.steps.found,
        "left_out": measured.steps.left_out, "seconds": measured.seconds,
        "gain": gain, "gain_low": low, "gain_high": high, "reasons": measured.reasons,
        "devices": [
            {"name": device.name, "units": float(measured.units[rank]),
             "computing": float(measured.computing[rank]),
             "half_width": float(measured.half_widths[rank]),
             "exchanging": float(measured.steps.exchanging[:, rank].mean()),
             "collective": float(measured.steps.collective[:, rank].mean()),
             "sent": float(measured.steps.sent[:, rank].mean()),
             "without_core": float(measured.without_core[rank]),
             "calls": measured.traces[rank].calls,
             "neighbours": [
                 {"rank": int(other), "messages": int(messages), "bytes": int(n_bytes)}
                 for other, (messages, n_bytes) in enumerate(measured.traces[rank].peers)
                 if messages
             ]}
            for rank, device in enumerate(one.plan.platform.devices)
        ],
    }  # fmt: skip
