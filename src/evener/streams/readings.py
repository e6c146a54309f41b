"""CostReading: how the equations of the paper's cost of an iteration are read [Muralidharan13]_."""

from __future__ import annotations

from dataclasses import dataclass

from evener.errors import UsageError, one_of

COMPUTE = ("ceil", "literal", "max1")
PAYS = ("both", "sender")
ROUTE = ("sum", "least", "transit")


@dataclass(frozen=True)
class CostReading:
    """What a filter and an edge cost a processor in an iteration.

    compute: seconds of a filter of T0 instructions for T1 data on a processor of R0
    instructions a second for R1 data each. "ceil": T0 x ceil(T1 / R1) / R0: a processor that is
    wider than the data gains nothing from that. "literal": T0 x T1 / R1 / R0, equation (1) to the
    letter: processors then differ in speed only. "max1": T0 x max(1, T1 / R1) / R0.
    pays: "both" ends of an edge between two processors are busy while its bytes flow, or the
    "sender" alone. route: bytes cost the "sum" of the links' seconds along the fastest route; or
    those of its slowest link, the "least" bandwidth; or, "transit", equation (2) to the letter:
    every processor on the route pays for each of its links on it. overlap: a processor computes
    while it sends and receives, so that the longer of both counts, not their sum.

    Raises UsageError for other words, and for "transit" where the sender alone pays.
    """

    compute: str = "ceil"
    pays: str = "both"
    route: str = "sum"
    overlap: bool = False

    def __post_init__(self) -> None:
        one_of("compute", self.compute, COMPUTE)
        one_of("pays", self.pays, PAYS)
        one_of("route", self.route, ROUTE)
        if self.route == "transit" and self.pays == "sender":
            raise UsageError(
                "the readings transit and sender contradict each other: with transit, "
                "every processor on a route pays"
            )

    @property
    def words(self) -> list[str]:
        """The choices that are not the default, as the command line names them."""
        chosen = [self.compute, self.pays, self.route, "overlap" if self.overlap else ""]
        return [word for word in chosen if word not in ("", "ceil", "both", "sum")]


def reading_of(words: str) -> CostReading:
    """Return the reading of words between commas, such as "literal,sender". Raises UsageError."""
    chosen: dict[str, str | bool] = {}
    kinds = {"compute": COMPUTE, "pays": PAYS, "route": ROUTE}
    for word in filter(None, (part.strip() for part in words.split(","))):
        if word == "overlap":
            chosen["overlap"] = True
            continue
        kind = next((kind for kind, known in kinds.items() if word in known), None)
        if kind is None:
            known = ", ".join([*COMPUTE, *PAYS, *ROUTE, "overlap"])
            raise UsageError(f"unknown reading {word!r}", hint=f"Known: {known}.")
        if kind in chosen:
            raise UsageError(f"the readings {chosen[kind]} and {word} contradict each other")
        chosen[kind] = word
    return CostReading(**chosen)  # type: ignore[arg-type]
