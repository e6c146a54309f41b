"""Draws docs/images/stream-run.png: the page of the FM radio's run on an emulated machine.

python docs/images/stream_run.py     (by chromium)
"""

import tempfile
from pathlib import Path

import numpy as np
from report import FOLDER, photograph

import evener as ev
from evener.reporting.stream_run_report import write_stream_run
from evener.running.streams.apps.registry import stream_app

WIDTH, HEIGHT = 1128, 1170  # pixels: up to the end of the timeline
ITERATIONS = 60
MS = (3.1, 2.4, 0.6, 1.3, 0.9, 0.9, 0.9, 0.9, 0.1)  # of the filters, in the program's order


def main():
    """Emulate the radio on three processors, have a browser draw the page, and keep its head."""
    program = stream_app("radio", {"block": 512})
    cores = [ev.Device(f"core{i}", 1.0, capabilities={"mips": 1000.0}) for i in range(3)]
    link = ev.Level("cores", ev.Link(0.0, 5e-9))
    plan = ev.map_filters(program.costing(np.array(MS) / 1e3), ev.Platform(tuple(cores), (link,)))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "run.html"
        write_stream_run(page, ev.emulate_stream(program, plan, ITERATIONS), program, plan)
        photograph(page, FOLDER / "stream-run.png", WIDTH, HEIGHT)


if __name__ == "__main__":
    main()
