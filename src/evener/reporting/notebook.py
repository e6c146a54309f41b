"""How a notebook shows a Plan, Platform, Evaluation, Advice or comparison: `_repr_html_`.

HTML fragments with tables and one picture: nothing is loaded, no scripts, every name escaped.
Pictures are images and styles are attributes, because notebooks show these even if not trusted.

`plan_figure` draws a plan as a matplotlib Figure: the blocks, and each device's predicted time.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evener.arrays import IntArray
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, take_graph
from evener.plans.advice import Advice
from evener.plans.plan import Evaluation, Plan
from evener.platforms.platform import Platform
from evener.reporting.bars import FOREMOST, MAX_BARS
from evener.reporting.certificates import certificate_columns, certificate_rows
from evener.reporting.comparisons import compared, row_of
from evener.reporting.headline import headline
from evener.reporting.html import render
from evener.reporting.networks import QuotientDrawing, draw_network
from evener.reporting.pictures import Picture
from evener.reporting.plots import new_figure, shown_name, styled
from evener.reporting.provenance import device_rows
from evener.reporting.scenes import draw
from evener.wording import count, duration, memory, percent, plural, ranges, signed_percent, time_of

if TYPE_CHECKING:
    from evener.planning.compare import Comparison


MAX_ROWS = 40  # of a table; notebooks are kept with all that they show
PIXELS = 100  # CSS px that an inch of a figure is wide
NAMED = 3  # ranges of names of a set of devices


@dataclass(frozen=True)
class ShownTable:
    """A table: title, headings if any, rows of text; left: how many first columns are words.

    folded: whether it must be opened by a click. rest: a phrase on omitted rows, or "".
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    folded: bool = False
    rest: str = ""


class ShownPicture(NamedTuple):
    """A picture: data: URI of a PNG, width [CSS px], a phrase that describes it."""

    uri: str
    width: int
    meaning: str


def plan_html(plan: Plan) -> str:
    """Return a plan: verdict, the picture of blocks and times, five figures, the certificate."""

    figures = [[one.name, one.value, one.meaning] for one in headline(plan, None)]
    rows = certificate_rows(plan)
    certificate = ShownTable(
        "Certificate",
        [column.title for column in certificate_columns(plan)],
        [[cell.text for cell in row] for row in rows[:MAX_ROWS]],
        left=2,
        folded=True,
        rest=_rest(len(rows), "device"),
    )
    kind = f"Plan: {plural(plan.partition.n, 'vertex', 'vertices')}, "
    return _fragment(
        kind + f"{plural(plan.platform.k, 'device')}, blocks by {plan.tool}",
        plan.verdict(),
        good=plan.certificate.all_hold,
        picture=_picture(plan_figure(plan), "Blocks in colours; each device's predicted time"),
        tables=[ShownTable("", [], figures, left=3), certificate],
    )


def platform_html(platform: Platform) -> str:
    """Return a platform: its devices by kind, each with a bar of its speed, and its links."""
    rows = [[row.name, row.value, row.meaning] for row in device_rows(platform)]
    tables = [ShownTable("Devices", ["device", "speed", "memory"], rows[:MAX_ROWS], left=3,
                         rest=_rest(len(rows), "kind"))]  # fmt: skip
    links = [
        [one.name, duration(one.link.alpha), _bandwidth(one.link.beta), _shared(one.shared)]
        for one in platform.levels
    ] + [
        [" – ".join(one.between), duration(one.link.alpha), _bandwidth(one.link.beta),
         _shared(one.shared)]
        for one in platform.connections[:MAX_ROWS]
    ]  # fmt: skip
    if links:
        tables.append(ShownTable("Links", ["link", "latency", "bandwidth", ""], links,
                                 rest=_rest(len(platform.connections), "link")))  # fmt: skip
    name = f"Platform {platform.name}" if platform.name else "Platform"
    memories = platform.memories[np.isfinite(platform.memories)]
    said = f"{plural(platform.k, 'device')}; "
    said += (
        f"memory {memory(float(memories.sum()))} in total" if memories.size else "no memory caps"
    )
    if not platform.has_links:
        said += "; no links stated, so communication is free"
    return _fragment(name, f"{said}.", tables=tables)


def evaluation_html(judged: Evaluation) -> str:
    """Return an evaluation: its figures, and a row for each block, by device number."""
    certificate, prediction = judged.certificate, judged.prediction
    first, clock = _first(certificate.contract.k), prediction.clock
    rows = [
        [str(b), "yes" if certificate.holds[b] else "NO", count(float(certificate.weights[b])),
         signed_percent(float(certificate.fullness[b, 0] - 1)), count(int(certificate.boundary[b])),
         str(int(certificate.components[b])), count(int(certificate.volumes[b])),
         clock(float(prediction.compute[b])), clock(float(prediction.communicate[b])),
         clock(float(prediction.ends[b]))]
        for b in first
    ]  # fmt: skip
    columns = ["block", "holds", "load", "off target", "boundary", "pieces", "sends",
               "compute", "exchange", "total"]  # fmt: skip
    kept, k = int(certificate.holds.sum()), certificate.contract.k
    said = (
        f"{kept:,} of {plural(k, 'block')} are within their contract; slowest block "
        f"{prediction.bottleneck}: {clock(prediction.makespan)}, edge cut "
        f"{count(judged.edge_cut)}, {plural(judged.total_volume, 'value')} sent."
    )
    table = ShownTable("Blocks", columns, rows, left=2, rest=_rest(k, "block"))
    return _fragment("Evaluation", said, good=judged.holds, tables=[table])


def advice_html(advice: Advice) -> str:
    """Return advice: the verdict, the curve of time over devices, the sets considered."""
    from evener.reporting.scaling_plots import draw_scaling

    names = advice.platform.names
    best, knee = advice.best.devices.tolist(), advice.knee.devices.tolist()
    rows = []
    for choice in advice.choices[:MAX_ROWS]:
        own = choice.devices.tolist()
        which = "all" if len(own) == len(names) else ranges([names[i] for i in own], NAMED)
        marks = [word for word, one in (("best", best), ("knee", knee)) if one == own]
        about = "" if choice.planned else "~"
        time = about + time_of(choice.seconds, advice.ideal)
        rows.append([f"{len(own):,}", which, ", ".join(marks), time,
                     count(choice.speed_up), percent(choice.efficiency)])  # fmt: skip
    columns = ["devices", "which", "", "predicted", "speed-up", "efficiency"]
    table = ShownTable("Best set for each number of devices", columns, rows, left=3,
                       rest=_rest(len(advice.choices), "set"))  # fmt: skip
    picture = _picture(draw_scaling(advice), "Predicted time over the number of devices")
    return _fragment("Advice", advice.verdict(), picture=picture, tables=[table])


def comparisons_html(results: Sequence[Comparison]) -> str:
    """Return a comparison: the verdict, and a row with the figures of each tool, fastest first."""
    judged = next((one.kept or one.raw for one in results if one.raw is not None), None)
    ideal = None if judged is None else judged.prediction.ideal
    view = compared([row_of(one) for one in results], ideal)
    rows = [
        [tool.tool, "–" if tool.holds is None else "yes" if tool.holds else "NO",
         *(figure.text for figure in tool.figures), *tool.cells, tool.note]
        for tool in view.tools
    ]  # fmt: skip
    columns = ["tool", "holds", *(title for _, title, _ in view.measures),
               *(title for title, _ in view.columns), ""]  # fmt: skip
    return _fragment("Comparison", view.verdict, tables=[ShownTable("", columns, rows, left=2)])


def _fragment(
    kind: str,
    verdict: str,
    *,
    tables: Sequence[ShownTable],
    good: bool | None = None,
    picture: ShownPicture | None = None,
) -> str:
    """Fill the template; good: whether all contracts are kept, None without contracts."""
    return render("notebook.html.j2", kind=kind, verdict=verdict, good=good, picture=picture,
                  tables=tables)  # fmt: skip


def _picture(figure: Any, meaning: str) -> ShownPicture:
    from evener.reporting.plots import figure_uri

    width = round(PIXELS * figure.get_size_inches()[0])
    return ShownPicture(figure_uri(figure), width, meaning)


def _bandwidth(beta: float) -> str:
    return f"{1e-9 / beta:,.3g} GB/s" if beta > 0 else "unlimited"


def _shared(shared: bool) -> str:
    return "shared" if shared else ""


def _first(k: int) -> range:
    return range(min(k, MAX_ROWS))


def _rest(n: int, what: str) -> str:
    """Return how many rows are left out, "" if none is."""
    return f"and {plural(n - MAX_ROWS, f'more {what}')}" if n > MAX_ROWS else ""


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
    picture = _figure_picture(plan, graph)
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


def _figure_picture(plan: Plan, given: GraphLike | None) -> Picture | None:
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
