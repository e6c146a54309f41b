"""Runs the experiments of [Cla14]_ on emulated machines, and writes findings, plots and numbers.

The speed curves of the thesis's hardware are not published; those of
evener.platforms.models.examples resemble them. So no verdict is about seconds, or about the
thesis's own machines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from evener.errors import InputError
from evener.files.writing import write_text
from evener.reporting.plots import draw_lines, save_figure
from evener.reproducing.findings import SUMMARY, PaperResult, counted
from evener.reproducing.fupermod_balancing import balancing
from evener.reproducing.fupermod_hybrid import hybrid
from evener.reproducing.fupermod_models import models
from evener.reproducing.fupermod_products import partial_models
from evener.reproducing.fupermod_rectangles import rectangles
from evener.reproducing.fupermod_speedup import speedup

Experiment = Callable[[bool], PaperResult]
EXPERIMENTS: Mapping[str, Experiment] = {
    "balancing": lambda _: balancing(),
    "models": lambda _: models(),
    "speedup": lambda fast: speedup((2000, 14000, 23000)) if fast else speedup(),
    "partial models": lambda fast: partial_models((16000, 96000)) if fast else partial_models(),
    "rectangles": lambda fast: rectangles((80000, 160000)) if fast else rectangles(),
    "hybrid": lambda fast: hybrid((60000, 150000)) if fast else hybrid(),
}
EMULATED = "emulated machines"
SOURCE = "Cla14"
# How the fields of a finding are called on the page.
LABELS = {
    "did": "it did",
    "says": "it says",
    "tried": "we did",
    "seen": "we see",
    "criteria": "asked",
    "lacking": "lacking",
    "counter": "counter",
}


def reproduce(
    fast: bool = False, tell: Callable[[str, float], None] = lambda *_: None
) -> PaperResult:
    """Run all experiments, with fewer sizes of each if `fast`.

    tell: called with the name of the next experiment, and the part that is done.
    """
    results = []
    for i, (name, experiment) in enumerate(EXPERIMENTS.items()):
        tell(name, i / len(EXPERIMENTS))
        results.append(experiment(fast))
    return PaperResult(
        [finding for result in results for finding in result.findings],
        [plot for result in results for plot in result.plots],
        {name: rows for result in results for name, rows in result.tables.items()},
    )


def write_result(
    folder: str | Path,
    result: PaperResult,
    where: str = EMULATED,
    title: str = "FuPerMod",
    source: str = SOURCE,
) -> list[str]:
    """Write the plots, README.md with the findings, and numbers.jsonl; return the files' names.

    where: the machines that were used. title: what was tried on them. source: the paper's key in
    docs/references.md. The folder is made if absent. Raises InputError where that is not possible.
    """
    target = Path(folder)
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=folder) from error
    names = []
    for plot in result.plots:
        names.append(f"{plot.name}.png")
        save_figure(target / names[-1], draw_lines(plot.panels))
    write_text(target / "README.md", _page(result, names, f"{title}, tried on {where}", source))
    tables = {"findings": result.rows(source), **result.tables}
    lines = [json.dumps({"table": name, **row}) for name, rows in tables.items() for row in rows]
    write_text(target / "numbers.jsonl", "\n".join(lines) + "\n")
    return [*names, "README.md", "numbers.jsonl"]


def _page(result: PaperResult, pictures: list[str], title: str, source: str) -> str:
    lines = [list(SUMMARY.values()), ["---"] * len(SUMMARY)]
    lines += [[row[key] for key in SUMMARY] for row in result.rows(source)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    parts = [f"# {title}", f"{counted(result.verdicts)}.", table]
    for finding in result.findings:
        row = finding.row()
        head = f"## {row.pop('where')}: {row.pop('verdict')}"
        parts += [head, "\n".join(f"- {LABELS[key]}: {text}" for key, text in row.items() if text)]
    parts += [f"![{Path(name).stem}]({name})" for name in pictures]
    return "\n\n".join(parts) + "\n"
