"""Blocks of least predicted seconds of a graph in slices, and the contract that they keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, Part
from evener.planning.in_memory import FULL_SHARE, notes_on_full
from evener.planning.makespan.border_search import SlicedTask
from evener.planning.makespan.sliced_search import SecondsBlocks, seconds_in_slices
from evener.planning.slice_blocks import (
    DividedSlices,
    SlicesToDivide,
)
from evener.planning.steps import named_devices
from evener.plans import metrics
from evener.plans.partition import Contract
from evener.plans.plan import Evaluation, Stage
from evener.plans.recount import BlockCounts, judged
from evener.sizing.bounds import bound_of_facts
from evener.sizing.contracts import seconds_contract
from evener.sizing.memory_capped import unit_capacities
from evener.sliced.counted import limits_within_memory, quotient_of
from evener.wording import plural


def least_seconds(task: SlicesToDivide) -> DividedSlices:
    """Return the blocks of least predicted seconds; sizes are their loads. All processes call.

    Raises MemoryShortError as `seconds_in_slices` does.
    """
    platform = task.platform
    made: tuple[Part, tuple[Stage, ...]] | None = None
    left_out = 0

    def divide(density: FloatArray, margin: float) -> Part:
        nonlocal made, left_out
        blocks, stages, left_out = _divided(task, density, margin)
        made = blocks, stages
        return blocks

    blocks, counts = task.within_memory(divide)
    # Blocks that one process made of the whole graph have no stages.
    stages = made[1] if made is not None and made[0] is blocks else ()
    found = _judged(task, counts)
    loads = counts.weights[:, 0].copy()
    room = np.minimum(unit_capacities(platform, _density(task)), platform.high_units)
    full = (loads >= FULL_SHARE * room) | (counts.bytes >= FULL_SHARE * platform.memories)
    notes = notes_on_full(platform, full)
    unused = counts.vertices == 0
    if unused.any():
        notes.append(f"Unused (slower with them): {named_devices(platform, unused)}")
    if left_out:
        some = plural(left_out, "plan was", "plans were")
        notes.append(f"{some} left out: refining the borders takes more than --memory allows.")
    whole = (loads == np.rint(loads)).all()
    sizes = loads.astype(np.int64) if whole else loads
    return DividedSlices(blocks, found, platform, sizes, full, tuple(notes), stages=stages)


def _density(task: SlicesToDivide) -> float:
    """Return the mean bytes of a unit of work [B]."""
    return task.facts.load.total_bytes / task.facts.load.load


def _divided(task: SlicesToDivide, density: FloatArray, margin: float) -> SecondsBlocks:
    """Return blocks whose weights are such that their bytes, of this density, fit."""
    platform, contract = task.platform, task.terms.contract
    if platform.k == 1:
        return SecondsBlocks(np.zeros(task.graph.n_own, np.int32), (), 0)
    load = task.facts.load.load
    most = np.minimum(unit_capacities(platform, 0.0), np.minimum(platform.high_units, load))
    free = Contract(contract.targets, np.minimum(platform.low_units, most), most, contract.caps)
    heaviest = task.facts.load.heaviest
    high = limits_within_memory(free, density, margin, heaviest).high
    limits = limits_within_memory(contract, density, margin, heaviest)
    terms = replace(task.terms, contract=replace(limits, caps=np.full(platform.k, np.inf)))
    unlimited = replace(
        platform, devices=tuple(replace(one, memory=None) for one in platform.devices)
    )
    search = SlicedTask(task.weighted, unlimited, free.low, high, terms, task.options, task.sliced)
    return seconds_in_slices(search)


def _judged(task: SlicesToDivide, counts: BlockCounts) -> Evaluation:
    """Return the evaluation of the blocks under the contract of a plan for seconds.

    No device is later than the makespan that is predicted for them without rounding.
    """
    platform, workload = task.platform, task.options.workload
    bound = bound_of_facts(task.facts.work, platform, workload)
    loads, between = counts.weights[:, 0], quotient_of(counts)
    predicted = metrics.prediction_of(
        between, loads, counts.interior, platform, workload, exact=True
    )
    makespan = max(predicted.makespan, float(np.nextafter(0, 1)))
    contract = seconds_contract(bound.loads, task.facts.total_weight, platform, makespan)
    return judged(counts, platform, contract, workload, bound.seconds)
