"""A plan as a matplotlib Figure: the blocks in colours, and each device's predicted time."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from evener.arrays import IntArray
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, take_graph
from evener.plans.plan import Plan
from evener.reporting.bars import FOREMOST, MAX_BARS
from evener.reporting.networks import QuotientDrawing, draw_network
from evener.reporting.pictures import Picture
from evener.reporting.plots import new_figure, shown_name, styled
from evener.reporting.scenes import draw
from evener.wording import time_of

PANEL, MARGIN = 4.6, 1.0  # inches: width of a panel, room for titles and axes
ROW, LEAST = 0.19, 3.2  # inches: of a device's bar; height of the figure at least
SHARP = 0.6  # of the width in pixels that the report's pictures have
POINTS = 72  # of an inch, in which matplotlib measures texts and lines
BOUND, OUTLINE, LINES = "#1c2127", "#262a30", "#9aa5b1"
PARTS = (("computing", "#a9c8e8"), ("communicating", "#e8b26f"), ("waiting", "#d98324"),
         ("fixed", "#5b6570"))  # fmt: skip


def plan_figure(plan: Plan, graph: GraphLike | None = None) -> Any:
    """Return the figure of `Plan.plot`: two panels, the blocks and the times.

    graph: the divided graph, for the positions of blocks; None: the graph stored in the plan.
    """
    picture = _picture(plan, graph)
    used = np.flatnonzero(plan.certificate.vertices > 0)
    rows = min(used.size, MAX_BARS)
    with styled():
        height = max(LEAST, MARGIN + ROW * rows)
        figure, (left, right) = new_figure(1, 2, 2 * PANEL, height)
        network = draw_network(plan) if picture is None else None
        if picture is not None:
            _show(left, picture)
        elif network is not None:
            _show_network(left, network)
        left.set_axis_off()
        _times(right, plan, used)
    return figure


def _picture(plan: Plan, given: GraphLike | None) -> Picture | None:
    """Return the first picture of the report; None without coordinates."""
    source: tuple[Graph | None, Any] = plan.source or (None, None)
    if given is not None:
        taken = take_graph(given)
        plan.partition.checked_for(taken.graph.n)
        source = taken.graph, taken.mesh
    scene = draw(plan, *source, shrink=SHARP)
    return scene.pictures[0] if scene is not None else None


def _show(axes: Any, picture: Picture) -> None:
    """Show a picture with the names of its blocks."""
    from PIL import Image

    png = base64.b64decode(picture.uri.partition(",")[2])
    axes.imshow(Image.open(io.BytesIO(png)).convert("RGBA"), interpolation="antialiased")
    axes.grid(visible=False)
    axes.set_title(picture.title, loc="left")
    size = picture.font / picture.width * PANEL * POINTS
    around = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.6}
    named = [(one.x, one.y, one.text) for one in picture.labels]
    named += [(one.x, one.y, one.text) for one in picture.callouts]
    for x, y, text in named:
        axes.text(x, y, shown_name(text), ha="center", va="center", fontsize=max(size, 6),
                  bbox=around, clip_on=True)  # fmt: skip
    for call in picture.callouts:
        axes.plot([call.from_x, call.x], [call.from_y, call.y], color=BOUND, linewidth=0.8)


def _show_network(axes: Any, network: QuotientDrawing) -> None:
    """Show the quotient graph: discs and the lines between them."""
    for width, way in network.lines:
        ends = np.array(way.replace("M", " ").replace("L", " ").split(), np.float64)
        x, y = ends.reshape(-1, 2, 2).transpose(2, 1, 0)  # of both ends of each line
        axes.plot(x, y, color=LINES, linewidth=width / 2, zorder=1)
    turn = np.linspace(0, 2 * np.pi, 60)
    for disc in network.nodes:
        x, y = disc.x + disc.radius * np.cos(turn), disc.y + disc.radius * np.sin(turn)
        axes.fill(x, y, facecolor=disc.colour, edgecolor=OUTLINE, linewidth=0.6, zorder=2)
        axes.text(disc.x, disc.y, shown_name(disc.label), ha="center", va="center", fontsize=6.5)
    axes.set(xlim=(0, network.width), ylim=(network.height, 0), aspect="equal")
    axes.set_title("Blocks that exchange values", loc="left")


def _times(axes: Any, plan: Plan, used: IntArray) -> None:
    """Draw bars of the parts of each device's time; if there are many devices, only the slowest."""
    prediction = plan.prediction
    ideal = prediction.ideal
    unit = ideal or 1.0  # relative times are drawn as multiples, for round numbers at the axis
    shown = used
    if used.size > MAX_BARS:
        shown = used[np.argsort(-prediction.ends[used], kind="stable")[:FOREMOST]]
    exchanging = prediction.communicate - prediction.overlapped
    contention = np.minimum(prediction.contention, exchanging)
    lengths = (prediction.compute, exchanging - contention, contention + prediction.delay,
               prediction.fixed)  # fmt: skip
    at, left = np.arange(shown.size), np.zeros(shown.size)
    for (name, colour), length in zip(PARTS, lengths, strict=True):
        if length.any():
            axes.barh(at, length[shown] / unit, left=left, color=colour, label=name, height=0.7)
            left = left + length[shown] / unit
    bound = prediction.bound / unit
    axes.axvline(bound, color=BOUND, linestyle=":", linewidth=1.2, label="lower bound")
    axes.set_yticks(at, [shown_name(plan.platform.names[b]) for b in shown.tolist()])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter(lambda length, _: time_of(length * unit, ideal))
    most = "" if shown.size == used.size else f", {shown.size} slowest of {used.size:,} devices"
    axes.set_title(f"Predicted time per iteration{most}", loc="left")
    axes.figure.legend(*axes.get_legend_handles_labels(), loc="outside lower right", ncols=5)
