"""How far a piecewise model of speed may be off between the samples it is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.arrays import FloatArray
from evener.samples import Sample

DOUBT = 1 / 8  # of what the ends of an interval differ by, however straight the curve looks
JUMP = 0.7  # difference of the ends' logarithms from which on there may be a jump between them
BENT = 2.0  # times the sag of a parabola: curves bend where nobody has looked


def doubts_between(samples: Sequence[Sample]) -> FloatArray:
    """Return for each two samples in a row how far the logarithm of time may be off between them.

    samples: by rising load, one each. Where speed or time is the same at both ends, one of the
    two is known between them; beyond what they differ by, no curve that rises or falls is off.
    Ends that differ by much may have a jump between them; else what is likely is the sag of a
    parabola through the bends at the ends, in logarithms. What may be noise is left out.
    """
    loads = np.array([sample.load for sample in samples])
    seconds = np.array([sample.seconds for sample in samples])
    width = np.diff(np.log(loads))
    rise = np.diff(np.log(loads / seconds))  # of the logarithm of speed
    noise = np.array([noise_of(sample) for sample in samples])
    both = noise[1:] + noise[:-1]
    apart = np.maximum(np.minimum(np.abs(rise), np.abs(width - rise)) - both, 0.0)
    bends = np.zeros(loads.size)
    bends[1:-1] = np.abs(np.diff(rise / width)) / (width[1:] + width[:-1])
    sag = np.maximum(bends[1:], bends[:-1]) * width**2 / 4 * BENT - both / 2
    likely = np.maximum.reduce([sag, DOUBT * apart, apart - JUMP])
    doubts: FloatArray = np.minimum(apart, likely)
    return doubts


def noise_of(sample: Sample) -> float:
    """Return half the width of the sample's confidence interval, relative to its time."""
    return sample.half_width / sample.seconds
