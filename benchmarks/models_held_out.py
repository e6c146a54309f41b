"""Which kind of model foretells times best between samples, on curves that are known.

    python benchmarks/models_held_out.py [FILE.toml ...]

Emulated devices: of every curve set each device once, 6, 12 and 24 samples a device at loads
the same factor apart, with 3 % noise, against the true times at three loads between every two of
them. FILE: a speeds file that was measured; of each device every other sample is held out. A cell
is by what factor times are off, in the median and at the 90th percentile: 1.10 is 10 % too
long or too short.
"""

import sys
from collections import defaultdict

import numpy as np

from evener.io.machines.speeds import read_speeds
from evener.platforms.models.examples import CURVE_SETS, curve_set
from evener.platforms.models.fitting import fit_model
from evener.platforms.models.samples import Sample

KINDS = ("piecewise", "time", "akima")
NOISE, SEED = 0.03, 1
BETWEEN = (0.25, 0.5, 0.75)  # of the way from a sample to the next, by factors
LAUNCH = 0.2  # share of the time that a launch takes, from which on it counts as "launch"


def place_of(curve, load):
    """Return what a device is doing at a load: launching, below or at its cliff, paging."""
    if load > 1.25 * curve.memory:
        return "paging"
    if load > 0.8 * curve.memory:
        return "at the cliff"
    share = curve.launch * float(curve.speed(np.array([load]))[0]) / load
    return "launch" if share > LAUNCH else "below"


def emulated(points):
    """Return the factors by which times are off, by place and kind, of all emulated devices."""
    rng, found = np.random.default_rng(SEED), defaultdict(lambda: defaultdict(list))
    curves = {curve.name: curve for name in CURVE_SETS for curve in curve_set(name)}
    for curve in curves.values():
        loads = np.unique(np.rint(np.geomspace(curve.low, min(curve.high, curve.capacity), points)))
        seconds = loads / curve.speed(loads) * rng.lognormal(0, NOISE, loads.size)
        samples = [Sample(*pair) for pair in zip(loads.tolist(), seconds.tolist(), strict=True)]
        held = np.concatenate([loads[:-1] * (loads[1:] / loads[:-1]) ** part for part in BETWEEN])
        # The interval in which the memory ends is one place, whatever the load within it.
        above = np.searchsorted(loads, curve.memory)
        edge = (held > loads[max(above - 1, 0)]) & (held < loads[min(above, loads.size - 1)])
        places = [
            "at the cliff" if e else place_of(curve, x) for x, e in zip(held, edge, strict=True)
        ]
        for kind in KINDS:
            off = np.abs(np.log(fit_model(samples, kind).time(held) * curve.speed(held) / held))
            for place, value in zip(places, off.tolist(), strict=True):
                found[place][kind].append(value)
    return found


def measured(file):
    """Return the same of a file: every other sample is held out."""
    found = defaultdict(lambda: defaultdict(list))
    for device in read_speeds(file):
        samples = sorted(device.samples, key=lambda sample: sample.load)
        held = samples[1:-1:2]
        for kind in KINDS:
            model = fit_model([s for s in samples if s not in held], kind)
            found[device.name][kind] += [abs(np.log(model.time(s.load) / s.seconds)) for s in held]
    return found


def show(title, found):
    """Print a line for each place."""
    for place, kinds in sorted(found.items()):
        cells = [
            f"{kind} {np.exp(np.median(own)):.3f} {np.exp(np.quantile(own, 0.9)):.3f}"
            for kind, own in kinds.items()
        ]
        print(f"{title}, {place} ({len(kinds[KINDS[0]]):,}): {', '.join(cells)}")


if __name__ == "__main__":
    for points in (6, 12, 24):
        show(f"{points} samples", emulated(points))
    for file in sys.argv[1:]:
        show(file, measured(file))
