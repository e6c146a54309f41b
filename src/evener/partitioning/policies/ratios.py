"""The computation ratio r of a GPU to a CPU, and the share of the CPUs that follows from it."""

from __future__ import annotations

from collections.abc import Callable

from evener.errors import InputError
from evener.partitioning.policies.machines import Machines

# Section IV-B of [Guo16]_, of a Xeon E5620 and a GeForce GTX 480: r by millions of arcs a machine.
PAPER_SMALL, PAPER_MIDDLE = 50.0, 125.0
PAPER_RATIOS = 19.5, 23.7
SHARE_STEPS = 20  # halvings of the interval in which the least share that fits lies


def paper_ratio(arcs_per_machine: float) -> float:
    """Return r = CPU seconds / GPU seconds for equal arcs, as [Guo16]_ fitted it to PageRank."""
    millions = arcs_per_machine / 1e6
    if not millions >= 0:
        raise InputError(f"a machine has {arcs_per_machine} arcs: r is not defined")
    if millions <= PAPER_SMALL:
        return 9.3 + 0.2 * millions
    return PAPER_RATIOS[0] if millions <= PAPER_MIDDLE else PAPER_RATIOS[1]


def platform_ratio(machines: Machines) -> float:
    """Return r from the speeds that the platform states: mean GPU over mean CPU; 1 without both."""
    gpu = machines.gpu
    if gpu.all() or not gpu.any():
        return 1.0
    return float(machines.speeds[gpu].mean() / machines.speeds[~gpu].mean())


def balanced_share(ratio: float, cpus: float, gpus: float) -> float:
    """Return the CPUs' share of arcs at which both sides finish together: 1 / (r + 1) for one each.

    cpus, gpus: how many there are, or the sums of their relative speeds.
    """
    if not ratio > 0:
        raise InputError(f"the ratio r must be above zero, and is {ratio}")
    return 1.0 if gpus == 0 else cpus / (cpus + ratio * gpus)


def least_share(fits: Callable[[float], bool], share: float) -> float:
    """Return the least share of the CPUs, from `share` on, at which every GPU's block fits.

    fits(share): whether they do; it is taken to hold from some share on. 1 where nothing fits that
    leaves the GPUs anything. Found by halving, to a millionth.
    """
    if fits(share):
        return share
    low, high = share, 1.0
    for _ in range(SHARE_STEPS):
        middle = (low + high) / 2
        if fits(middle):
            high = middle
        else:
            low = middle
    return high
