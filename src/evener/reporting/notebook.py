"""What a notebook shows of a Plan, Platform, Evaluation, Advice or comparison: `_repr_html_`.

Fragments of HTML with the report's pictures: nothing is loaded, no script, every name escaped.
Their style takes colours from the page around them, light or dark.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.plans.advice import Advice
from evener.plans.plan import Evaluation, Plan
from evener.platforms.platform import Platform
from evener.reporting import bars
from evener.reporting.certificates import certificate_columns, certificate_rows
from evener.reporting.comparisons import compared, row_of
from evener.reporting.headline import headline
from evener.reporting.html import render
from evener.reporting.networks import draw_network
from evener.reporting.provenance import device_rows
from evener.reporting.scenes import Scene, draw
from evener.reporting.tables import clock_of
from evener.wording import count, duration, memory, percent, plural, ranges, signed_percent, time_of

if TYPE_CHECKING:
    from evener.planning.compare import Comparison

MAX_ROWS = 40  # of a table; notebooks are kept with all that they show
MAX_PICTURE_BYTES = 400_000
SHRINK = (0.6, 0.4, 0.25, 0.15)
NAMED = 3  # ranges of names of a set of devices


@dataclass(frozen=True)
class ShownTable:
    """A table: title, headings, rows of text; left: columns of words, the others are numbers.

    folded: whether it is opened by a click. rest: what is said of rows left out, or "".
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    folded: bool = False
    rest: str = ""


def plan_html(plan: Plan) -> str:
    """Return a plan: verdict, five figures, the picture of its blocks, the devices' times."""
    scene = _scene(plan)
    network = draw_network(plan) if scene is None else None
    drawn = scene or network
    colours = drawn.colours if drawn is not None else [""] * plan.platform.k
    rows = certificate_rows(plan)
    table = ShownTable(
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
        plan=plan,
        figures=headline(plan, None),
        scene=scene,
        network=network,
        devices=bars.device_bars(plan, colours),
        clock=clock_of(plan),
        tables=[table],
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
    return _fragment(name, f"{said}.", speeds=_speed_bars(platform), tables=tables)


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
        f"{kept:,} of {plural(k, 'block')} keep their contract; slowest block "
        f"{prediction.bottleneck}: {clock(prediction.makespan)}, "
        f"edge cut {count(judged.edge_cut)}, {plural(judged.total_volume, 'value')} sent."
    )
    table = ShownTable("Blocks", columns, rows, left=2, rest=_rest(k, "block"))
    return _fragment("Evaluation", said, tables=[table])


def advice_html(advice: Advice) -> str:
    """Return advice: the verdict, the curve of time over devices, the sets that were weighed."""
    from evener.reporting.plots import figure_bytes
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
    picture = base64.b64encode(figure_bytes(draw_scaling(advice), "png")).decode()
    uri = f"data:image/png;base64,{picture}"
    return _fragment("Advice", advice.verdict(), image=uri, tables=[table])


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


def _fragment(kind: str, verdict: str, **parts: Any) -> str:
    """Return the template filled; parts that are left out are not shown."""
    usual: dict[str, Any] = {
        "figures": [], "scene": None, "network": None, "devices": None, "plan": None,
        "clock": None, "speeds": [], "image": "", "tables": [],
    }  # fmt: skip
    return render("notebook.html.j2", kind=kind, verdict=verdict, **(usual | parts))


def _scene(plan: Plan) -> Scene | None:
    """Return the picture of what the plan was made from; None without coordinates."""
    if plan.source is None:
        return None
    graph, mesh = plan.source
    for shrink in SHRINK:
        scene = draw(plan, graph, mesh, shrink=shrink)
        if scene is None or sum(len(one.uri) for one in scene.pictures) <= MAX_PICTURE_BYTES:
            return scene
    return None


def _speed_bars(platform: Platform) -> list[tuple[str, float, str]]:
    """Return name, length [%] and speed of each device; of many, of the first of each speed."""
    speeds, names = platform.speeds, platform.names
    shown = np.arange(platform.k)
    if platform.k > bars.MAX_BARS:
        _, shown = np.unique(-speeds, return_index=True)
    most = float(speeds.max())
    return [
        (names[b], bars.place(100 * speeds[b] / most), f"{count(float(speeds[b]))}")
        for b in shown[: bars.MAX_BARS].tolist()
    ]


def _bandwidth(beta: float) -> str:
    return f"{1e-9 / beta:,.3g} GB/s" if beta > 0 else "unlimited"


def _shared(shared: bool) -> str:
    return "shared" if shared else ""


def _first(k: int) -> range:
    return range(min(k, MAX_ROWS))


def _rest(n: int, what: str) -> str:
    """Return how many rows are left out, "" where none is."""
    return f"and {plural(n - MAX_ROWS, f'more {what}')}" if n > MAX_ROWS else ""
