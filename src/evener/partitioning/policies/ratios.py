"""The computation ratio r of a GPU to a CPU, and the share of the CPUs that follows from it."""

from __future__ import annotations

from collections.abc import Callable

from evener.errors import InputError

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


def least_share(fits: Callable[[float], bool], share: float) -> float:
    """Return the least share up to 1, from `share` on, at which every GPU's block fits.

    Such as that of the CPUs. fits(share): whether they do; it is taken to hold from some share on.
    1 where they do at no other. Found by halving, to a millionth.
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
