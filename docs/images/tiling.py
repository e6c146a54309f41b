"""Draws the picture of docs/sizing.md, docs/images/tiling.png.

python docs/images/tiling.py
"""

from pathlib import Path

import evener as ev
from evener.reporting.tilings import draw_tiling

SPEEDS = [6] * 3 + [5] * 4 + [3] * 3 + [2] * 4


def main():
    """Write the picture beside this script."""
    tiled = ev.tile(SPEEDS, (8192, 8192), block=128)
    names = [f"dev{i}\nspeed {speed}" for i, speed in enumerate(SPEEDS)]
    draw_tiling(str(Path(__file__).parent / "tiling.png"), tiled.tiling, names)


if __name__ == "__main__":
    main()
