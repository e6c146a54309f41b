"""What the slowest device spends its time with, and the changes that would help most."""

from __future__ import annotations

from typing import Any, NamedTuple

from evener.planning.bottleneck import Bottleneck
from evener.wording import duration, percent, plural

COLUMNS = ("what if (same partition)", "predicted", "saves")
MAX_CHANGES = 8
NOTICED = 1e-3  # of the time: shorter delays are not mentioned
ALIKE = 5e-4  # relative: times nearer than this are shown as the same


class BottleneckSection(NamedTuple):
    """The section of the page: a sentence, and the columns and rows of a table."""

    sentence: str
    columns: tuple[str, ...]
    rows: list[tuple[str, str, str]]


def sentence(slowest: Bottleneck) -> str:
    """Return what the slowest device spends its time with, and how much earlier the next ends."""
    parts = [f"{_share(slowest.compute, slowest)} computing"]
    exchange = slowest.latency + slowest.transfer
    if slowest.neighbours:
        partners = plural(slowest.neighbours, "neighbour")
        parts.append(
            f"{_share(exchange, slowest)} exchanging with {partners} "
            f"(latency {_share(slowest.latency, slowest)})"
        )
    if slowest.waiting > 0:
        parts.append(
            f"{_share(slowest.waiting, slowest)} waiting for the shared link {slowest.link}"
        )
    if slowest.delay > NOTICED * slowest.seconds:
        parts.append(f"{_share(slowest.delay, slowest)} waiting for its partners")
    if slowest.fixed > 0:
        parts.append(f"{_share(slowest.fixed, slowest)} fixed")
    text = f"{slowest.device} finishes last: {', '.join(parts)}"
    if slowest.overlapped > 0:
        text += f"; {_share(slowest.overlapped, slowest)} of that happens at once"
    if slowest.next_seconds is not None and slowest.seconds > 0:
        sooner = 1 - slowest.next_seconds / slowest.seconds
        when = "at the same time" if sooner < ALIKE else f"{percent(sooner)} earlier"
        text += f". {slowest.next_device} finishes {when}"
    return text + "."


def rows(slowest: Bottleneck, most: int = MAX_CHANGES) -> list[tuple[str, str, str]]:
    """Return a row of COLUMNS for each of the changes that help most."""
    return [
        (one.text, duration(one.seconds), f"−{percent(1 - one.ratio)}")
        for one in slowest.changes[:most]
    ]


def to_dict(slowest: Bottleneck) -> dict[str, Any]:
    """Return the bottleneck for --json, with every change that helps, best first."""
    table = {key: getattr(slowest, key) for key in _KEYS}
    changes = [
        {"change": one.text, "seconds": one.seconds, "ratio": one.ratio} for one in slowest.changes
    ]
    return {**table, "changes": changes}


_KEYS = (
    "device", "seconds", "compute", "latency", "transfer", "waiting", "delay", "fixed",
    "overlapped", "neighbours", "link", "next_device", "next_seconds",
)  # fmt: skip


def _share(seconds: float, slowest: Bottleneck) -> str:
    return percent(seconds / slowest.seconds if slowest.seconds > 0 else 0.0)
