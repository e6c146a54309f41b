"""All experiments of [Cla14]_, on emulated machines.

The speed curves of the thesis's hardware are not published; those of
evener.platforms.models.examples resemble them. So no verdict is about seconds, or about the
thesis's own machines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from papers.cla14.balancing import balancing
from papers.cla14.hybrid import hybrid
from papers.cla14.models import models
from papers.cla14.products import partial_models
from papers.cla14.rectangles import rectangles
from papers.cla14.speedup import speedup
from papers.command import Reproduction, Tell
from papers.findings import PaperResult
from papers.here import found_here, predicted_and_measured

Experiment = Callable[[bool], PaperResult]
EXPERIMENTS: Mapping[str, Experiment] = {
    "balancing": lambda _: balancing(),
    "models": lambda _: models(),
    "speedup": lambda fast: speedup((2000, 14000, 23000)) if fast else speedup(),
    "partial models": lambda fast: partial_models((16000, 96000)) if fast else partial_models(),
    "rectangles": lambda fast: rectangles((80000, 160000)) if fast else rectangles(),
    "hybrid": lambda fast: hybrid((60000, 150000)) if fast else hybrid(),
}
FEW_TRIALS, TRIALS = 3, 20  # of --here


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


def _measured(fast: bool, tell: Tell) -> PaperResult:
    return found_here(predicted_and_measured(FEW_TRIALS if fast else TRIALS, tell))


REPRODUCTION = Reproduction(
    "cla14",
    "FuPerMod",
    "Cla14",
    "emulated machines",
    lambda fast, tell, *_: reproduce(fast, tell),
    here=_measured,
)
