"""Draws docs/images/streams.png: the head of the page of an FM radio's plan.

python docs/images/streams.py     (by chromium)
"""

import tempfile
from pathlib import Path

import numpy as np
from report import FOLDER, photograph

import evener as ev

WIDTH, HEIGHT = 1128, 1130  # pixels: up to the end of the loads
BLOCK, TAPS, BANDS = 4096, 64, 10  # samples of sound an iteration, of a filter; of the equaliser
STEP = 4  # the antenna's samples of one of sound


def main():
    """Map the radio, have a browser draw its page, and keep the head of that."""
    plan = ev.map_filters(radio(), machine())
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "radio.html"
        ev.write_stream_report(page, plan)
        photograph(page, FOLDER / "streams.png", WIDTH, HEIGHT)


def radio():
    """Low pass, demodulator and an equaliser of bands, as StreamIt's example; a sample is 4 B."""
    names, scalar, vector, edges, stateful = [], [], [], [], set()

    def put(name, instructions, data, *before):
        edges.extend((names.index(one), len(names), nbytes) for one, nbytes in before)
        names.append(name)
        scalar.append(float(instructions))
        vector.append(float(data))
        return name

    wide, sound = 8 * BLOCK * STEP, 4 * BLOCK
    antenna = put("antenna", 3 * BLOCK * STEP, 1)
    stateful.add(antenna)
    channel = put("low pass", 4 * TAPS, BLOCK * STEP, (antenna, wide))
    before = put("demodulate", 12 * BLOCK, 1, (channel, wide // STEP))
    stateful.add(before)
    bands = []
    for i in range(BANDS):
        low = put(f"low {i}", 2 * TAPS, BLOCK, (before, sound))
        high = put(f"high {i}", 2 * TAPS, BLOCK, (before, sound))
        bands.append(put(f"band {i}", 2, BLOCK, (low, sound), (high, sound)))
    put("add", BANDS, BLOCK, *((band, sound) for band in bands))
    tails, heads, nbytes = zip(*edges, strict=True)
    flags = np.array([name in stateful for name in names])
    return ev.StreamGraph(tuple(names), scalar, vector, tails, heads, nbytes, flags)


def machine():
    """Four cores and a GPU behind a link."""
    cores = [
        ev.Device(f"core{i}", 1.0, at="host", capabilities={"mips": 4e3, "vector_length": 8})
        for i in range(4)
    ]
    gpu = ev.Device("gpu", 1.0, kind="cuda", capabilities={"mips": 1e3, "vector_length": 2048})
    link = ev.Connection(("host", "gpu"), ev.Link(1e-6, 1e-9 / 12))
    return ev.Platform((*cores, gpu), (), (link,))


if __name__ == "__main__":
    main()
