"""Writes pictures of few colours into this folder: a fourth as large, the same bytes every time."""

import io
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from PIL import Image

from evener.reporting.plots import figure_bytes

mpl.use("Agg")

FOLDER = Path(__file__).parent


def save(figure, name, colours=128, *, dpi=130, dither=False):
    """Write a figure, and close it."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dpi, metadata={"Software": None})
    plt.close(figure)
    _save_png(content.getvalue(), name, colours, dither=dither)


def save_styled(figure, name):
    """Write a figure in the style of those of `evener`."""
    _save_png(figure_bytes(figure, "png"), name, 160, dither=True)


def _save_png(content, name, colours, *, dither):
    how = Image.Dither.FLOYDSTEINBERG if dither else Image.Dither.NONE
    picture = Image.open(io.BytesIO(content)).convert("RGB").quantize(colours, dither=how)
    picture.save(FOLDER / name, optimize=True)
