"""Write the report of a plan, or of a comparison, as one self-contained HTML page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from evener import wording
from evener.files.writing import write_text
from evener.graphs.graph import Graph
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh
from evener.io.accept import GraphLike, take_graph
from evener.planning.bottleneck import Bottleneck, bottleneck_of
from evener.planning.evaluate import stage_of
from evener.plans.plan import Plan, Rival
from evener.platforms.platform import Platform
from evener.reporting import bars, stages
from evener.reporting.certificates import (
    certificate_columns,
    certificate_rows,
    in_pieces,
    recounted,
)
from evener.reporting.comparisons import compared
from evener.reporting.exchange_matrix import exchange_matrix, volume_chart
from evener.reporting.headline import (
    CHANGE_COLUMNS,
    BottleneckSection,
    bottleneck_sentence,
    change_rows,
    headline,
)
from evener.reporting.networks import QuotientDrawing, draw_network
from evener.reporting.pictures import COLUMN, PAGE
from evener.reporting.provenance import device_rows, mapped, option_rows, provenance
from evener.reporting.scenes import Scene, draw
from evener.reporting.speed_plots import speed_section
from evener.reporting.tables import OF_PRODUCTS, time_remarks
from evener.wording import percent, plural, without_marks

MAX_PICTURE_BYTES = 1_900_000  # keeps a page below 3 MB
UNUSED = "Unused ("  # begins the note on unused devices, which the page shows beside the bars
NO_BREAK = "\N{NO-BREAK SPACE}"
SHRINK = (1.0, 0.75, 0.55, 0.4, 0.25)


def write_report(
    path: str | Path,
    plan: Plan,
    graph: GraphLike | None = None,
    mesh: Mesh | PolyMesh | None = None,
) -> None:
    """Write the report of `plan`; equal arguments give equal bytes, below 3 MB.

    graph, mesh: the plan's input, for the picture; graph may also be a file name or a result of
    `read`; without coordinates the quotient graph is drawn. Raises InputError if they do not belong
    to the plan.
    """
    if graph is None:
        write_text(path, report(plan, None, mesh))
        return
    taken = take_graph(graph)
    write_text(path, report(plan, taken.graph, mesh or taken.mesh))


def report(
    plan: Plan,
    graph: Graph | None = None,
    mesh: Mesh | PolyMesh | None = None,
) -> str:
    """Return the page that `write_report` writes."""
    if graph is not None:
        plan.partition.checked_for(graph.n)
    scene = _scene(plan, graph, mesh)
    network = draw_network(plan) if scene is None else None
    drawn = scene or network
    colours = drawn.colours if drawn is not None else [""] * plan.platform.k
    slowest = None
    if plan.platform.has_links:  # else the time is only computing
        slowest = bottleneck_of(plan.evaluation, plan.platform, plan.workload)
    return render(
        "report.html.j2",
        plan=plan,
        clock=plan.prediction.clock,
        recounted=recounted(plan, has_graph=graph is not None),
        certificate=plan.certificate,
        figures=headline(plan, slowest),
        notes=[note for note in plan.notes if not note.startswith(UNUSED)]
        + _pieces(plan)
        + [OF_PRODUCTS] * (OF_PRODUCTS in time_remarks(plan.platform, 1.0)),
        scene=scene,
        network=network,
        is_beside=_is_small(scene, network),
        devices=bars.device_bars(plan, colours),
        bottleneck=None if slowest is None else _bottleneck(slowest),
        speeds=speed_section(plan),
        compared=stages.compared(plan),
        compared_with=stages.compared_with(plan),
        steps=stages.steps(plan),
        rival=plan.rival,
        versus=None if plan.rival is None else _beside(plan, plan.rival),
        volumes=volume_chart(plan, colours),
        matrix=exchange_matrix(plan),
        boundary=percent(plan.evaluation.boundary / max(plan.partition.n, 1)),
        mapped=mapped(plan.mapping),
        columns=certificate_columns(plan),
        rows=certificate_rows(plan),
        provenance=provenance(plan),
    )


def _pieces(plan: Plan) -> list[str]:
    """Return a note on blocks of more than one connected piece, if there are any."""
    named = in_pieces(plan)
    return (
        [f"In more than one connected piece: {named}; --connected requests one piece each"]
        if named
        else []
    )


def _bottleneck(slowest: Bottleneck) -> BottleneckSection:
    """Return the section on the bottleneck."""
    return BottleneckSection(bottleneck_sentence(slowest), CHANGE_COLUMNS, change_rows(slowest))


def _is_small(scene: Scene | None, network: QuotientDrawing | None) -> bool:
    """Whether the picture leaves space for the bars next to it."""
    if scene is not None:
        return len(scene.pictures) == 1 and scene.pictures[0].css_width <= COLUMN * PAGE + 1
    return network is not None and network.width <= COLUMN * PAGE + 1


def _beside(plan: Plan, rival: Rival) -> stages.Stages | None:
    mine = stage_of(plan.tool, plan.evaluation)
    return stages.against(plan.tool, mine, plan.cpu_seconds, rival, plan.prediction.clock)


def write_comparison(
    path: str | Path,
    rows: Sequence[Mapping[str, Any]],
    graph: Graph,
    platform: Platform,
    *,
    options: Mapping[str, Any],
    inputs: Mapping[str, str],
) -> None:
    """Write a page on several tools' partitions of one graph.

    rows: one for each tool, with tool, family, note, moved, cpu_seconds, enforce_seconds, and
    edge_cut, max_volume, total_volume, imbalance, seconds, holds, smallest, largest, which are None
    if they could not be computed. options: common to all tools; inputs: file name -> SHA-256.
    """
    page = render(
        "comparison.html.j2",
        view=compared(rows, platform.relative_ideal(float(graph.total_weight))),
        what="",
        counts=f"{plural(graph.n, 'vertex', 'vertices')}, {plural(graph.m, 'edge')}",
        platform=platform,
        options=option_rows({key: value for key, value in options.items() if key != "tool"}),
        devices=device_rows(platform),
        inputs=inputs,
    )
    write_text(path, page)


def _scene(plan: Plan, graph: Graph | None, mesh: Mesh | PolyMesh | None) -> Scene | None:
    """Draw the picture; draw it smaller if its images are too large for the page."""
    for shrink in SHRINK:
        scene = draw(plan, graph, mesh, shrink=shrink)
        if scene is None or sum(len(p.uri) for p in scene.pictures) <= MAX_PICTURE_BYTES:
            return scene
    return None


def render(template: str, **values: Any) -> str:
    """Return the page of a template, filled with these values."""
    return without_marks(_environment().get_template(template).render(**values))


def unbroken(text: str) -> str:
    """Return text with no-break spaces between numbers and their units."""
    return re.sub(r"(?<=\d) (?=%|[mnuµ]?s\b|[KMGT]?i?B\b)", NO_BREAK, text)


@cache
def _environment() -> Environment:
    """Return the environment of the templates, which is created once."""
    environment = Environment(
        loader=PackageLoader("evener.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in (
        "all_of", "count", "duration", "memory", "percent", "plural", "ratio", "speed",
    ):  # fmt: skip
        environment.globals[name] = getattr(wording, name)
    environment.filters["unbroken"] = unbroken
    return environment
