"""`evener run --stream`: run a stream program on a plan's processors, or measure its filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evener.cli.run_options import RunOptions
from evener.cli.run_programs import parameters_asked
from evener.cli.values import refuse_outputs
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans.stream_plan import StreamPlan
    from evener.running.mpi_comm import MpiComm
    from evener.running.streams.program import StreamProgram
    from evener.running.streams.results import StreamRun

ITERATIONS = 100  # default
SHOWN = 40  # processors, and filters, in the tables
# Options of runs on graphs, which say nothing of stream programs.
OTHERS = (
    "source", "samples", "checkpoint", "resume", "rebalance", "family", "policies", "policy",
    "ratio", "cpu_share", "no_own",
)  # fmt: skip


def run_stream_program(options: RunOptions, comm: MpiComm | None, out: Output) -> int:
    """Run or measure a stream program; exit 5 if its results are found to be wrong."""
    _refuse_others(options)
    if comm is not None and comm.rank > 0:
        out.is_json, out.is_quiet = False, True
    program = _program(options)
    if options.calibrate:
        return _calibrate(options, program, comm, out)
    name = options.graph if options.plan is None else options.plan
    written = [one for one in (options.output, options.report, options.trace) if one is not None]
    refuse_outputs(written, [name, options.program])
    from evener.io.plans.stream_plan import read_stream_plan

    plan = read_stream_plan(name)
    found = _run(options, program, plan, comm, out)
    speaks = comm is None or comm.rank == 0
    right = _verified(program, found) if speaks and options.verify else None
    told = _say(program, found, plan, right, out)
    if speaks:
        _write(options, program, plan, found)
        if written:
            out.say(f"Written: {', '.join(written)}")
    records = [one for one in written if one != options.output]
    out.result({**told, "written": options.output, "records": records})
    return 5 if right is False else 0


def _refuse_others(options: RunOptions) -> None:
    others = [f"--{key.replace('_', '-')}" for key in OTHERS if getattr(options, key)]
    others += [f"--{key}" for key in ("coords", "weights") if getattr(options.reading, key)]
    others += [*options.machines.given, *(["--locality"] if options.locality != "off" else [])]
    if others:
        raise UsageError(f"{others[0]} does not work with --stream")


def _program(options: RunOptions) -> StreamProgram:
    from evener.running.streams.apps.registry import stream_app
    from evener.running.streams.program import StreamProgram

    given = parameters_asked(options)
    if options.program is not None:
        return StreamProgram.from_file(options.program, given)
    return stream_app(str(options.app), given)


def _calibrate(
    options: RunOptions, program: StreamProgram, comm: MpiComm | None, out: Output
) -> int:
    """Measure the filters and the transfers between cores; write the graph, and the machine."""
    from evener.io.dataflow.reading import stream_writer_for, write_stream_graph
    from evener.io.machines.platforms import write_platform
    from evener.running.devices import Cuda, devices_of
    from evener.running.streams.between_cores import calibrate_stream
    from evener.running.streams.in_turn import REPEATS
    from evener.threads import cores
    from evener.wording import duration

    if options.report is not None:
        raise UsageError("--report does not work with --calibrate")
    if options.graph:
        raise UsageError(f"--calibrate takes no plan: leave out {options.graph}")
    if options.output is None:
        raise UsageError("--calibrate needs an output file", hint="Give -o FILE.toml.")
    stream_writer_for(options.output)  # refuses other formats before anything is measured
    if comm is not None:
        raise UsageError("--calibrate does not work under mpiexec")
    written = [one for one in (options.output, options.cores) if one is not None]
    refuse_outputs(written, [options.program])
    repeats = REPEATS if options.iterations is None else options.iterations
    devices = None if options.devices is None else devices_of(options.devices)
    if any(isinstance(one, Cuda) for one in devices or ()):
        raise UsageError("--calibrate measures filters on cores, not on CUDA devices")
    bound = [one for one in devices or () if not isinstance(one, Cuda)] or None
    busy = cores() if bound is None else len(bound)
    with out.progress(f"Measuring {program.name}") as progress:
        found = calibrate_stream(
            program, repeats, busy, devices=bound,
            tell=lambda done: progress(f"iteration {done}", done / (repeats + 1)),
        )  # fmt: skip
    seconds = found.seconds
    rows = [
        [one.name, duration(took), "" if one.state is None else "yes"]
        for one, took in zip(program.filters, seconds.tolist(), strict=True)
    ]
    out.table(("filter", "an iteration", "stateful"), rows, most=SHOWN, what="filters")
    if found.per_byte is not None:
        dear = f"{1e-9 / found.per_byte:,.3g} GB/s" if found.per_byte else "nothing measurable"
        out.say(f"A transfer between two cores takes time on both cores: {dear}.")
    write_stream_graph(options.output, found.graph)
    if options.cores is not None:
        write_platform(options.cores, found.platform)
    out.say(f"Written: {', '.join(written)}, for devices with mips = 1000; busy cores: {busy}")
    seconds_of = dict(zip(found.graph.names, seconds.tolist(), strict=True))
    out.result(
        {"program": program.name, "seconds": seconds_of, "busy": busy,
         "per_byte": found.per_byte, "written": options.output, "machine": options.cores}
    )  # fmt: skip
    return 0


def _run(
    options: RunOptions,
    program: StreamProgram,
    plan: StreamPlan,
    comm: MpiComm | None,
    out: Output,
) -> StreamRun:
    import numpy as np

    from evener.running.devices import devices_of
    from evener.running.hybrid import names_of_processes
    from evener.running.streams.executing import StreamWatch, run_stream
    from evener.streams.emulating import emulate_stream

    if comm is not None:
        # A rank may wait while another runs all its filters: a firing that hangs is found sooner.
        most = int(np.bincount(plan.part).max())
        patience = (most + 1) * options.timeout
        comm.describe(names_of_processes(comm, plan.platform.names), patience)
    for one in program.filters:
        if getattr(one.work, "targetoptions", {"nogil": True}).get("nogil") is not True:
            out.note(
                f"note: {one.name!r} is compiled without nogil, so that no other filter runs "
                "at the same time"
            )
    iterations = ITERATIONS if options.iterations is None else options.iterations
    if options.emulate:
        if comm is not None or options.devices is not None:
            raise UsageError("--emulate does not work with --devices or under mpiexec")
        with out.progress(f"Emulating {program.name}"):
            return emulate_stream(program, plan, iterations)
    devices = None if options.devices is None else devices_of(options.devices, comm)
    with out.progress(f"Running {program.name}") as progress:

        def tell(done: int) -> None:
            progress(f"iteration {done:,}", done / iterations)

        watch = StreamWatch(
            options.timeout,
            devices=devices,
            trace=options.trace is not None or options.report is not None,
            kills=True,
            tell=tell,
        )
        return run_stream(program, plan, iterations, comm=comm, watch=watch)


def _verified(program: StreamProgram, found: StreamRun) -> bool:
    """Return whether the outputs are right, or equal the outputs of a sequential run."""
    import numpy as np

    from evener.running.streams.in_turn import run_in_turn

    if program.verify is not None:
        return bool(program.verify(found.outputs))
    twin = run_in_turn(program, found.iterations)
    return twin.keys() == found.outputs.keys() and all(
        np.array_equal(twin[name], found.outputs[name], equal_nan=True) for name in twin
    )


def _say(
    program: StreamProgram,
    found: StreamRun,
    plan: StreamPlan,
    right: bool | None,
    out: Output,
) -> dict[str, Any]:
    """Print a row for each processor and each filter, and a summary; return it for --json."""
    from evener.wording import duration, percent, plural

    processors = _processors(found, plan)
    columns = ("device", "busy", "on a core", "no input", "no room", "an iteration", "predicted")
    times = ("busy", "cpu", "no_input", "no_room", "mean", "predicted")
    rows = [[one["name"], *(duration(one[name]) for name in times)] for one in processors]
    out.table(columns, rows, most=SHOWN, what="devices")
    filters: list[dict[str, Any]] = [
        {"name": one.name, "device": found.names[one.processor], "seconds": one.seconds,
         "cpu": one.cpu, "no_input": one.no_input, "no_room": one.no_room}
        for one in found.filters
    ]  # fmt: skip
    waited = max(filters, key=lambda one: one["no_input"] + one["no_room"])
    seconds = found.seconds
    where = " on the emulated machine" if found.is_emulated else ""
    whole = f"{plural(found.iterations, 'iteration')} in {duration(seconds)}{where}"
    out.say(f"{program.name}: {whole}.")
    if found.period is None:
        out.say(f"Too few iterations for a period; predicted {duration(found.predicted)}.")
    else:
        off = found.period / found.predicted - 1 if found.predicted > 0 else float("inf")
        share = f"{percent(abs(off))} {'longer' if off >= 0 else 'shorter'}"
        out.say(
            f"Period {duration(found.period)}, {found.throughput:,.1f} iterations per second; "
            f"predicted {duration(found.predicted)}, so {share}."
        )
    if right is not None:
        by = "another algorithm" if program.verify else "one filter after the other"
        out.say(f"Verified by {by}." if right else f"WRONG according to {by}.")
    return {
        "program": program.name, "iterations": found.iterations, "seconds": seconds,
        "period": found.period, "predicted": found.predicted, "throughput": found.throughput,
        "verified": right, "devices": processors, "filters": filters, "waits_most": waited["name"],
    }  # fmt: skip


def _processors(found: StreamRun, plan: StreamPlan) -> list[dict[str, Any]]:
    """Return a dict for each processor: its name, and its seconds of each kind."""
    own: dict[str, Sequence[float]] = {
        "busy": found.busy.tolist(), "cpu": found.cpu.tolist(),
        "no_input": found.no_input.tolist(), "no_room": found.no_room.tolist(),
        "mean": (found.busy / found.iterations).tolist(), "predicted": plan.loads.tolist(),
    }  # fmt: skip
    return [
        {"name": name, **{key: values[i] for key, values in own.items()}}
        for i, name in enumerate(found.names)
    ]


def _write(options: RunOptions, program: StreamProgram, plan: StreamPlan, found: StreamRun) -> None:
    """Write outputs, page and trace if requested."""
    import numpy as np

    from evener.files.writing import atomic_write
    from evener.running.records import write_trace
    from evener.running.streams.results import stream_trace_of

    if options.output is not None:
        with atomic_write(options.output) as file:
            np.savez(file, **dict(found.outputs))  # type: ignore[arg-type]
    if options.report is not None:
        from evener.reporting.stream_run_report import write_stream_run

        write_stream_run(options.report, found, program, plan)
    if options.trace is not None:
        write_trace(options.trace, stream_trace_of(found))
