"""A machine drawn as a tree: levels, places, devices; equal neighbours in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evener.cli.machines import equal_runs, run_name, safe
from evener.reporting.numbers import plural
from evener.showing import printable

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from evener.platforms import Connection, Device, Level, Link, Platform

GIB = 2.0**30
OWN = {
    "fixed_seconds": "s fixed",
    "cost_per_hour": "an hour",
    "watts": "W",
    "idle_watts": "W idle",
}
MAX_LINES = 40  # below one place; the rest is counted


def print_tree(platform: Platform) -> None:
    """Print the tree to stdout."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 120
    Console(file=sys.stdout, width=width, highlight=False).print(tree_of(platform))


def tree_of(platform: Platform) -> Tree:
    """Return the tree: places below places, devices as leaves, links of their own last."""
    from rich.tree import Tree

    title = platform.name or "machine"
    root = Tree(_text(f"{title}: {plural(platform.k, 'device')}{_level_note(platform, 0)}", "bold"))
    _fill(root, platform, platform.devices, 0)
    if platform.connections:
        links = root.add(_text(plural(len(platform.connections), "link"), "bold"))
        lines = (
            f"{safe(c.between[0])} - {safe(c.between[1])}: {link_text(c.link)}{_shared(c)}"
            for c in platform.connections
        )
        _add_some(links, lines, len(platform.connections), "links")
    return root


def link_text(link: Link) -> str:
    """Say what a link costs, in the units of the machine file."""
    if link.alpha == 0 and link.beta == 0:
        return "free"
    rate = "no limit" if link.beta == 0 else f"{1e-9 / link.beta:.4g} GB/s"
    return f"{link.alpha * 1e6:.4g} us, {rate}"


def device_text(devices: Sequence[Device]) -> str:
    """Describe a device, or neighbours that are equal but for their names."""
    device = devices[0]
    words = [run_name([d.name for d in devices]), device.kind, f"speed {device.speed:,.6g}"]
    if device.memory is not None:
        words.append(f"{device.memory / GIB:,.4g} GiB")
    if device.memory_units is not None:
        words.append(f"{device.memory_units:,.6g} units")
    for key, what in (("low_units", "at least"), ("high_units", "at most")):
        if (units := getattr(device, key)) is not None:
            words.append(f"{what} {units:,.6g} units")
    words += [
        f"{getattr(device, key):,.6g} {unit}"
        for key, unit in OWN.items()
        if getattr(device, key) is not None and (getattr(device, key) or key != "fixed_seconds")
    ]
    words += [f"{safe(key)} {value:,.6g}" for key, value in device.capabilities.items()]
    return "  ".join(words)


def _fill(tree: Tree, platform: Platform, devices: Sequence[Device], depth: int) -> None:
    """Add what is at one place: its own devices, then the places below it."""
    own: list[Device] = []
    below: dict[str, list[Device]] = {}
    for device in devices:
        parts = device.at.split("/") if device.at else []
        if len(parts) > depth:
            below.setdefault(parts[depth], []).append(device)
        else:
            own.append(device)
    runs = equal_runs([replace(device, name="-") for device in own])
    _add_some(tree, (device_text(own[a:b]) for a, b in runs), len(runs), "groups of devices")
    for place, inside in list(below.items())[:MAX_LINES]:
        note = _level_note(platform, depth + 1)
        branch = tree.add(_text(f"{safe(place)}: {plural(len(inside), 'device')}{note}", "bold"))
        _fill(branch, platform, inside, depth + 1)
    if len(below) > MAX_LINES:
        tree.add(_text(f"... and {len(below) - MAX_LINES:,} more places", "dim"))


def _level_note(platform: Platform, depth: int) -> str:
    if depth >= len(platform.levels):
        return ""
    level = platform.levels[depth]
    return f" ({safe(level.name)}: {link_text(level.link)}{_shared(level)})"


def _shared(one: Level | Connection) -> str:
    return ", shared" if one.shared else ""


def _add_some(tree: Tree, lines: Iterable[str], count: int, what: str) -> None:
    for _, line in zip(range(MAX_LINES), lines, strict=False):
        tree.add(_text(line))
    if count > MAX_LINES:
        tree.add(_text(f"... and {count - MAX_LINES:,} more {what}", "dim"))


def _text(line: str, style: str = "") -> Text:
    """Plain text: brackets in a name are no markup, and what is in it moves no cursor."""
    from rich.text import Text

    return Text(printable(line), style=style, overflow="fold")
