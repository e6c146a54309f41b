"""tuned: plans again with measured speeds, for `evener tune` and programs that measure speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from evener.errors import InfeasibleError, InputError, NotFoundError
from evener.io.accept import GraphLike, take_graph
from evener.planning.in_memory import options_of
from evener.planning.plan import plan as planned
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.with_curves import with_curves

if TYPE_CHECKING:
    from evener.planning.steps import Progress
    from evener.plans.plan import Plan

EPSILON = 0.01  # the tolerance around measured speeds


def tuned(
    plan: Plan,
    samples: Sequence[DeviceSpeeds] | npt.ArrayLike,
    graph: GraphLike,
    *,
    notes: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Plan:
    """Return a plan with the options of an older plan, at the speeds that a program measured.

    samples: seconds (k,) that each device computes per iteration on its block of the plan, without
    waiting for others; or the samples of each device, as `read_speeds` returns them. Samples at
    several loads make a curve of speed. A device whose block is empty keeps its speed relative to
    the others. graph: the graph that the plan divides. notes: notes of the new plan. The new plan's
    epsilon is at most EPSILON if such blocks are found, because a step lasts as long as the slowest
    device computes.

    The new plan is predicted, not measured: keep it if the program is faster with it. Raises
    InputError for a graph or samples that do not belong to the plan, and the errors of `plan`.
    """
    if isinstance(samples, Sequence) and all(isinstance(one, DeviceSpeeds) for one in samples):
        speeds = cast("Sequence[DeviceSpeeds]", samples)
    else:
        speeds = speeds_of_blocks(plan, np.asarray(samples, float))
    platform, _ = with_curves(plan.platform, speeds)
    taken = take_graph(graph)
    plan.partition.checked_for(taken.graph.n)
    if not np.isclose(taken.graph.total_weight, plan.certificate.weights.sum()):
        raise InputError(
            "the weights of the graph are not those of the plan",
            hint="Read the graph with the options that the plan was made with, and pass it.",
        )
    if plan.graph.get("groups") and taken.graph.together is None:
        raise InputError(
            "the plan keeps vertices together, but the graph has no groups",
            hint="Read the graph with the plan's option `together`, or set graph.together.",
        )
    options = options_of(plan.options, plan.workload)
    if options.epsilon <= EPSILON:
        return planned(graph, platform, options, notes=notes, progress=progress)
    try:
        even = replace(options, epsilon=EPSILON)
        return planned(graph, platform, even, notes=notes, progress=progress)
    except (InfeasibleError, NotFoundError):
        wider = (
            f"No blocks within {EPSILON:.0%} were found: the tolerance is {options.epsilon:.0%}."
        )
        return planned(graph, platform, options, notes=(*notes, wider), progress=progress)


def speeds_of_blocks(
    plan: Plan,
    seconds: npt.NDArray[np.float64],
    half_widths: npt.NDArray[np.float64] | None = None,
    repetitions: int = 1,
) -> list[DeviceSpeeds]:
    """Return a sample of each device from the time of its block.

    seconds (k,): per iteration; half_widths (k,): of their confidence intervals; repetitions:
    number of iterations. A device without a block gets the speed that the platform states, times
    the median ratio of measured to stated speed of the other devices. Raises InputError for other
    shapes, and if a device with a block took no time.
    """
    units, devices = plan.certificate.weights, plan.platform.devices
    if seconds.shape != units.shape:
        raise InputError(
            f"there are {seconds.size:,} times, and the plan has {units.size:,} devices"
        )
    busy = units > 0
    if not (np.isfinite(seconds).all() and (seconds[busy] > 0).all()):
        raise InputError("each device with a block needs its seconds per iteration, above zero")
    stated = plan.platform.speeds
    ratio = float(np.median(units[busy] / seconds[busy] / stated[busy]))
    mean = float(units[busy].mean())
    found = []
    for rank, device in enumerate(devices):
        if busy[rank]:
            sample = Sample(float(units[rank]), float(seconds[rank]), repetitions=repetitions)
            if half_widths is not None:
                sample = replace(sample, half_width=float(half_widths[rank]))
        else:
            sample = Sample(mean, mean / (float(stated[rank]) * ratio))
        found.append(DeviceSpeeds(device.name, (sample,)))
    return found
