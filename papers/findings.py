"""Statements of a paper beside what we see, their verdicts, and the plots and tables with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

Row = Mapping[str, float | int | str]


class FindingVerdict(StrEnum):
    """Whether a statement of the paper holds."""

    HELD = "held"
    PARTLY = "partly"
    NOT_HELD = "not held"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Criterion:
    """A condition for a statement to hold, and whether it is met.

    met: None where the interval of what was measured includes the figure, so that it is open. own:
    its figure or its interpretation is ours, not the paper's; this is shown beside it.
    """

    asked: str
    met: bool | None
    own: bool = False

    def __str__(self) -> str:
        answer = {True: "yes", False: "no", None: "open"}[self.met]
        return f"{self.asked}{' (our figure)' if self.own else ''}: {answer}"


@dataclass(frozen=True)
class CounterExample:
    """The verdict of a finding's own test on a system for which the statement does not hold."""

    system: str
    verdict: FindingVerdict

    def __str__(self) -> str:
        return f"{self.system}: {self.verdict}"


@dataclass(frozen=True)
class Finding:
    """One statement of a paper beside what we see.

    where: its table or figure. did, says: what the paper did and says. tried, seen: what we did and
    saw. criteria: the conditions for it to hold; empty where it was not tried. lacking: how our
    experiment differs from the paper's, or why there was none. beside: the statement is ours, not
    the paper's; only such a statement can be "held" by criteria with figures of our own. counter:
    what the same criteria say of a system for which the statement does not hold; without it nothing
    is held.
    """

    where: str
    did: str
    says: str
    tried: str
    seen: str
    criteria: Sequence[Criterion] = ()
    lacking: str = ""
    beside: bool = False
    counter: CounterExample | None = None

    @property
    def judged(self) -> FindingVerdict:
        """The verdict by the criteria alone.

        Held: every criterion met, each the paper's own, tried as the paper did. Not tried: there
        are no criteria, or none is met and one is open. Not held: none is met. Partly: all else.
        """
        if not any(criterion.met for criterion in self.criteria):
            decided = self.criteria and all(one.met is not None for one in self.criteria)
            return FindingVerdict.NOT_HELD if decided else FindingVerdict.NOT_TRIED
        as_the_paper = self.beside or not any(criterion.own for criterion in self.criteria)
        whole = all(criterion.met for criterion in self.criteria) and not self.lacking
        return FindingVerdict.HELD if whole and as_the_paper else FindingVerdict.PARTLY

    @property
    def verdict(self) -> FindingVerdict:
        """As judged; but held only where the same criteria fail for a counter-example."""
        fails = self.counter is not None and self.counter.verdict is not FindingVerdict.HELD
        held = self.judged is FindingVerdict.HELD
        return FindingVerdict.PARTLY if held and not fails else self.judged

    def row(self) -> dict[str, str]:
        """Return all of it as words, by name."""
        return {
            "where": self.where,
            "did": self.did,
            "says": self.says,
            "tried": self.tried,
            "seen": self.seen,
            "criteria": "; ".join(map(str, self.criteria)),
            "lacking": self.lacking,
            "counter": "" if self.counter is None else str(self.counter),
            "verdict": str(self.verdict),
        }

    def beside_counter(self, system: str, found: Finding) -> Finding:
        """Return this finding with the same test's finding for a system without the property."""
        return replace(self, counter=CounterExample(system, found.judged))

    def summary(self, source: str) -> dict[str, str]:
        """Return the finding as a line of SUMMARY; source: the key of the paper, as "Cla14"."""
        return {
            "source": f"{source}, {self.where}",
            "statement": self.says,
            "section": self.where,
            "ran": self.tried,
            "verdict": str(self.verdict),
        }


# Keys of Finding.summary that the table at the end of a reproduction has, and their heads.
SUMMARY = {
    "statement": "statement",
    "section": "section",
    "ran": "what we ran",
    "verdict": "verdict",
}


def not_tried(where: str, did: str, says: str, why: str) -> Finding:
    """Return the finding of a statement for which there was no experiment."""
    return Finding(where, did, says, "nothing", "", lacking=why)


def against(
    judge: Callable[[Sequence[Row]], Finding],
    rows: Sequence[Row],
    system: str,
    changed: Sequence[Row],
) -> Finding:
    """Return the finding of the rows, beside that of the same criteria on changed rows.

    system: what those are of, for which the statement does not hold.
    """
    counter = judge(changed)
    bare = replace(
        counter, lacking="", criteria=[replace(one, own=False) for one in counter.criteria]
    )
    return judge(rows).beside_counter(system, bare)


@dataclass(frozen=True)
class Panel:
    """A diagram. lines: label to values of y, as many as x has; nan where there is no value.

    log_x, log_y: whether the axis is logarithmic. x_names: of the values of x, where they are not
    numbers but one thing after another, which no line joins.
    """

    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    log_y: bool = False
    log_x: bool = False
    x_names: Sequence[str] = ()


@dataclass(frozen=True)
class Plot:
    """Panels that are one picture, whose file is called name.png."""

    name: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class PaperResult:
    """Findings of an experiment, its plots, and its numbers as rows of a table."""

    findings: Sequence[Finding]
    plots: Sequence[Plot] = ()
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)

    @property
    def verdicts(self) -> dict[str, int]:
        """How many findings have each verdict."""
        found = [finding.verdict for finding in self.findings]
        return {str(verdict): found.count(verdict) for verdict in FindingVerdict}

    def rows(self, source: str) -> list[dict[str, str]]:
        """Return all of each finding by name, with its `source` and `statement`."""
        return [finding.row() | finding.summary(source) for finding in self.findings]


def counted(verdicts: Mapping[str, int]) -> str:
    """Return the numbers of verdicts in words, such as "3 held, 2 partly"."""
    return ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
