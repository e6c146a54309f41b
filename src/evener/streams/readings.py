"""CostReading: how to interpret the paper's equations for an iteration [Muralidharan13]_."""

from __future__ import annotations

from dataclasses import dataclass

from evener.errors import UsageError, one_of

COMPUTE = ("ceil", "literal", "max1")
PAYS = ("both", "sender")
ROUTE = ("sum", "least", "transit")


@dataclass(frozen=True)
class CostReading:
    """How the costs of filters and edges on processors are computed for an iteration.

    compute: the time of a filter of T0 instructions on T1 data, on a processor that runs R0
    instructions per second on R1 data each. "ceil": T0 x ceil(T1 / R1) / R0, so that a processor
    wider than the data gains nothing. "literal": T0 x T1 / R1 / R0, equation (1) as printed;
    processors then differ only in speed. "max1": T0 x max(1, T1 / R1) / R0.

    pays: "both" ends of an edge between two processors are busy during its transfer, or only the
    "sender". route: "sum": the time of a byte is added over the links of the fastest route;
    "least": it is that of the route's slowest link; "transit": equation (2) as printed, in which
    every processor on the route pays for each of its own links on it. overlap: a processor computes
    while it sends and receives, so that the larger of both times counts, not their sum.

    Raises UsageError for other values, and for "transit" together with "sender".
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
        """The choices that differ from the default, as the command line names them."""
        chosen = [self.compute, self.pays, self.route, "overlap" if self.overlap else ""]
        return [word for word in chosen if word not in ("", "ceil", "both", "sum")]


def reading_of(words: str) -> CostReading:
    """Return the reading for a comma-separated list such as "literal,sender".

    Raises UsageError for unknown words.
    """
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
