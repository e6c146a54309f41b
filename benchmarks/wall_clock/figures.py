"""Medians, their intervals by bootstrap, and the expected maximum of times that vary."""

import numpy as np

DRAWS = 2000
SEED = 5


def median_interval(values, level=0.95):
    """The median, and its interval by bootstrap."""
    values = np.asarray(values, float)
    drawn = np.random.default_rng(SEED).choice(values, (DRAWS, values.size))
    tail = (1 - level) / 2
    low, high = np.quantile(np.median(drawn, axis=1), [tail, 1 - tail])
    return float(np.median(values)), float(low), float(high)


def errors(predicted, measured):
    """How far predictions are off, relative to what was measured: median, interval, nine tenths."""
    signed = np.asarray(predicted) / np.asarray(measured) - 1
    middle, low, high = median_interval(np.abs(signed))
    p90 = float(np.quantile(np.abs(signed), 0.9))
    return {
        "median": middle,
        "low": low,
        "high": high,
        "p90": p90,
        "bias": float(np.median(signed)),
    }


def paired(above, below):
    """The ratio of two series taken in turn: median over the runs, and its interval."""
    middle, low, high = median_interval(np.asarray(above) / np.asarray(below))
    return {"ratio": middle, "low": low, "high": high}


def expected_maximum(seconds, times):
    """What an iteration takes that ends with the last device, when the times of each vary [s].

    seconds (k,): the mean of each. times: a sample a device, whose spread around its own mean
    counts. Which device is last changes, so this is above the largest mean.
    """
    rng = np.random.default_rng(SEED)
    drawn = [
        mean * rng.choice(np.asarray(own) / np.mean(own), DRAWS) if len(own) else np.zeros(DRAWS)
        for mean, own in zip(seconds, times, strict=True)
    ]
    return float(np.max(drawn, axis=0).mean())
