"""What a notebook shows of a Plan, Platform, Evaluation, Advice or comparison: `_repr_html_`.

HTML fragments with tables and one picture: nothing is loaded, no scripts, every name escaped.
Pictures are images and styles are attributes, because notebooks show these even if not trusted.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evener.plans.advice import Advice
from evener.plans.plan import Evaluation, Plan
from evener.platforms.platform import Platform
from evener.reporting.certificates import certificate_columns, certificate_rows
from evener.reporting.comparisons import compared, row_of
from evener.reporting.headline import headline
from evener.reporting.html import render
from evener.reporting.provenance import device_rows
from evener.wording import count, duration, memory, percent, plural, ranges, signed_percent, time_of

if TYPE_CHECKING:
    from evener.planning.compare import Comparison

MAX_ROWS = 40  # of a table; notebooks are kept with all that they show
PIXELS = 100  # CSS px that an inch of a figure is wide
NAMED = 3  # ranges of names of a set of devices


@dataclass(frozen=True)
class ShownTable:
    """A table: title, headings or none, rows of text; left: columns of words, others are numbers.

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
    from evener.reporting.figures import plan_figure

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
    said += f"memory {memory(float(memories.sum()))} in all" if memories.size else "no memory caps"
    if not platform.has_links:
        said += "; no links stated, so communication is free"
    return _fragment(name, f"{said}.", tables=tables)


def evaluation_html(judged: Evaluation) -> str:
    """Return an evaluation: its figures, and a row for each block, numbered as devices are."""
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
    table = ShownTable("Best set of each number", columns, rows, left=3,
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
    from evener.reporting.plots import figure_bytes

    png = base64.b64encode(figure_bytes(figure, "png")).decode()
    width = round(PIXELS * figure.get_size_inches()[0])
    return ShownPicture(f"data:image/png;base64,{png}", width, meaning)


def _bandwidth(beta: float) -> str:
    return f"{1e-9 / beta:,.3g} GB/s" if beta > 0 else "unlimited"


def _shared(shared: bool) -> str:
    return "shared" if shared else ""


def _first(k: int) -> range:
    return range(min(k, MAX_ROWS))


def _rest(n: int, what: str) -> str:
    """Return how many rows are left out, "" if none is."""
    return f"and {plural(n - MAX_ROWS, f'more {what}')}" if n > MAX_ROWS else ""
