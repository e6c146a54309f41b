"""Draws the pictures of docs/sizing.md: servers, and one device fitted four ways.

python docs/images/models.py
"""

import numpy as np
from few_colours import save_styled

from evener.platforms.models.examples import emulated_speeds
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.reporting.speed_plots import DeviceFits, draw_fits


def main():
    """Write all."""
    servers = emulated_speeds("cluster2", points=24, noise=0.06)
    save_styled(draw_fits([DeviceFits(device) for device in servers]), "models-cluster.png")
    save_styled(draw_fits([DeviceFits(uneven()), DeviceFits(few())]), "models-kinds.png")


def uneven():
    """A GPU with a dip, a plateau and a cliff, measured with noise; the last point was stopped."""
    loads = np.array([100, 300, 700, 1500, 3000, 5000, 8000, 12000, 18000, 25000, 32000, 40000])
    speeds = np.array([8, 22, 47, 80, 118, 101, 142, 150, 139, 146, 120, 24]) * 1e5
    samples = [Sample(load, load / speed, 0.04 * load / speed, 5)
               for load, speed in zip(loads[:-1], speeds, strict=False)]  # fmt: skip
    stopped = Sample(loads[-1], loads[-1] / speeds[-1], status="slower")
    return DeviceSpeeds("a dip, a plateau and a cliff", (*samples, stopped), capacity=45_000)


def few():
    """Three samples: a partial model."""
    samples = (Sample(500, 0.00012, 5e-6, 5), Sample(5000, 0.0006, 3e-5, 5),
               Sample(20000, 0.0060, 2e-4, 5))  # fmt: skip
    return DeviceSpeeds("three samples", samples)


if __name__ == "__main__":
    main()
