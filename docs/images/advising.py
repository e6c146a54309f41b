"""Draws docs/images/advising.png: a scaling curve of 96 devices.

python docs/images/advising.py
"""

from pathlib import Path

import evener as ev
from evener.graphs.generating.delaunay import delaunay
from evener.reporting.plots import save_figure
from evener.reporting.scaling_plots import draw_scaling

BYTES = 12 * 7 + 4 + 16  # that a row of SpMV moves


def machine():
    """Eight nodes of a fast device behind PCIe and eleven slow ones."""
    devices, links = [], []
    for node in range(8):
        at = f"node{node}"
        devices.append(ev.Device(f"fast{node}", 80e9 / BYTES, at=at, fixed_seconds=1e-5))
        links.append(ev.Connection((f"fast{node}", at), ev.Link(4.25e-6, 1 / 12e9 + 1 / 20e9)))
        for core in range(11):
            name = f"slow{node}.{core}"
            devices.append(ev.Device(name, 5e9 / BYTES, at=at, fixed_seconds=5e-7))
            links.append(ev.Connection((name, at), ev.Link(2.5e-7, 1 / 20e9)))
        links.append(ev.Connection((at, "switch"), ev.Link(5e-7, 0.5 * (1 / 4e9 - 1 / 10e9))))
    return ev.Platform(tuple(devices), connections=tuple(links))


def main():
    """Draw it."""
    advice = ev.advise(delaunay(1 << 16, seed=7), machine(), ev.PlanOptions(preset="fast"))
    save_figure(Path(__file__).with_suffix(".png"), draw_scaling(advice))


if __name__ == "__main__":
    main()
