"""Refinement of a candidate: its vertices move to lower the makespan, repeatedly while that helps.

`refine_seconds` knows what each device computes and exchanges, but not how long it waits for its
partners and for shared links. The waits of the last prediction are added to a device's fixed
seconds. Where no device is last because of its waits, one refinement is enough.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray
from evener.partitioning.makespan.refine import BlockLimits, refine_seconds
from evener.planning.makespan.candidates import Candidate, CandidateMaker
from evener.planning.makespan.presets import SearchEffort

# Least gain of a refinement over the makespan: one that gains less, or would gain less if no
# device waited for another, is the last.
# Set by hand with commit 2845de0, 2026-11; benchmarks/seconds.py has the results under it.
MIN_GAIN = 0.005


def refinements(
    first: Candidate, maker: CandidateMaker, effort: SearchEffort, seed: int, threads: int
) -> list[Candidate]:
    """Return what refining a candidate of several devices makes, one candidate each time."""
    one, waits, tried = first, np.zeros(first.used.size), list[Candidate]()
    for turn in range(1 + effort.more_refinements):
        waits = 0.5 * (waits + _unknown_waits(one, effort))
        times = f" {turn + 1} times" if turn else ""
        name = f"{first.name}, refined{times}"
        now = _refined(name, one, waits, maker, effort, seed=seed + turn, threads=threads)
        if now is None:
            break
        tried.append(now)
        gain = 1 - now.seconds / one.seconds
        if gain <= MIN_GAIN or not _late_by_waiting(now, effort):
            break
        one = now
    return tried


def _refined(
    name: str,
    one: Candidate,
    waits: FloatArray,
    maker: CandidateMaker,
    effort: SearchEffort,
    *,
    seed: int,
    threads: int,
) -> Candidate | None:
    """Return the candidate refined once; waits (k,) [s]: added to its devices' fixed seconds."""
    problem = maker.problem
    contract = problem.contract(one.loads)
    costs = replace(problem.costs, fixed=problem.costs.fixed + waits)
    if effort.more_refinements:  # waits for shared links are among `waits`
        costs = replace(costs, shared_per_value=np.empty(0))
    part, _ = refine_seconds(
        problem.weighted, one.part, problem.work, costs,
        limits=BlockLimits(contract.low, contract.high, contract.caps), seed=seed, threads=threads,
        effort=effort.refine_effort,
    )  # fmt: skip
    return maker.make(name, part, one.loads)


def _unknown_waits(one: Candidate, effort: SearchEffort) -> FloatArray:
    """(k,) waits that refinement does not know of [s].

    For partners, always. For shared links where a candidate is refined more than once: the last
    prediction is then nearer than what refinement computes for them.
    """
    held_up = one.prediction.contention if effort.more_refinements else 0.0
    return np.asarray(one.prediction.delay + held_up)


def _late_by_waiting(one: Candidate, effort: SearchEffort) -> bool:
    """Whether the makespan would be lower if no device waited."""
    without = float((one.prediction.ends - _unknown_waits(one, effort)).max())
    return without <= one.seconds * (1 - MIN_GAIN)
