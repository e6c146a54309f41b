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


def sentence(limits: Bottleneck) -> str:
    """Return what the slowest device spends its time with, and how much earlier the next ends."""
    parts = [f"{_share(limits.compute, limits)} computing"]
    exchange = limits.latency + limits.transfer
    if limits.neighbours:
        parts.append(
            f"{_share(exchange, limits)} exchanging with {plural(limits.neighbours, 'neighbour')} "
            f"(latency {_share(limits.latency, limits)})"
        )
    if limits.waiting > 0:
        parts.append(f"{_share(limits.waiting, limits)} waiting for the shared link {limits.link}")
    if limits.delay > NOTICED * limits.seconds:
        parts.append(f"{_share(limits.delay, limits)} waiting for its partners")
    if limits.fixed > 0:
        parts.append(f"{_share(limits.fixed, limits)} fixed")
    text = f"{limits.device} finishes last: {', '.join(parts)}"
    if limits.overlapped > 0:
        text += f"; {_share(limits.overlapped, limits)} of that happens at once"
    if limits.next_seconds is not None and limits.seconds > 0:
        sooner = 1 - limits.next_seconds / limits.seconds
        when = "at the same time" if sooner < ALIKE else f"{percent(sooner)} earlier"
        text += f". {limits.next_device} finishes {when}"
    return text + "."


def rows(limits: Bottleneck, most: int = MAX_CHANGES) -> list[tuple[str, str, str]]:
    """Return a row of COLUMNS for each of the changes that help most."""
    return [
        (one.text, duration(one.seconds), f"−{percent(1 - one.ratio)}")
        for one in limits.changes[:most]
    ]


def to_dict(limits: Bottleneck) -> dict[str, Any]:
    """Return the limits for --json, with every change that helps, best first."""
    table = {key: getattr(limits, key) for key in _KEYS}
    changes = [
        {"change": one.text, "seconds": one.seconds, "ratio": one.ratio} for one in limits.changes
    ]
    return {**table, "changes": changes}


_KEYS = (
    "device", "seconds", "compute", "latency", "transfer", "waiting", "delay", "fixed",
    "overlapped", "neighbours", "link", "next_device", "next_seconds",
)  # fmt: skip


def _share(seconds: float, limits: Bottleneck) -> str:
    return percent(seconds / limits.seconds if limits.seconds > 0 else 0.0)
