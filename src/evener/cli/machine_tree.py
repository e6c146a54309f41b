"""Draw a machine as a text tree: levels, locations, devices; equal devices in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evener.cli.machines import equal_runs, run_name, safe
from evener.cli.table_layout import wrapped
from evener.wording import microseconds, plural

if TYPE_CHECKING:
    from evener.platforms.platform import Connection, Device, Level, Link, Platform

GIB = 2.0**30
OWN = {
    "cost_per_hour": "an hour",
    "watts": "W",
    "idle_watts": "W idle",
}
MAX_LINES = 40  # below one place; further ones are counted


@dataclass
class TreeNode:
    """A line of the tree, and the lines below it."""

    text: str
    below: list[TreeNode] = field(default_factory=list)

    def add(self, text: str) -> TreeNode:
        """Add a line below this one; returns it."""
        self.below.append(TreeNode(text))
        return self.below[-1]


def tree_lines(platform: Platform, width: int | None = None) -> list[str]:
    """Return the lines of the tree: locations, devices as leaves, then links between pairs.

    width: of the terminal, or None if lines may be of any length.
    """
    title = platform.name or "machine"
    root = TreeNode(f"{title}: {plural(platform.k, 'device')}{_level_note(platform, 0)}")
    _fill(root, platform, platform.devices, 0)
    if platform.connections:
        links = root.add(plural(len(platform.connections), "link"))
        lines = (
            f"{safe(c.between[0])} - {safe(c.between[1])}: {link_text(c.link)}{_shared(c)}"
            for c in platform.connections
        )
        _add_some(links, lines, len(platform.connections), "links")
    return _drawn(root, "", "", width)


def _drawn(node: TreeNode, before: str, further: str, width: int | None) -> list[str]:
    """Return the lines of a node and its subtree.

    `before` starts the first, `further` the others.
    """
    room = None if width is None else max(width - len(before), 16)
    parts = [node.text] if room is None else wrapped(node.text, room, 0)
    bar = "│   " if node.below else ""
    lines = [before + parts[0], *(further + bar + part for part in parts[1:])]
    for i, child in enumerate(node.below):
        corner, side = ("└── ", "    ") if i == len(node.below) - 1 else ("├── ", "│   ")
        lines += _drawn(child, further + corner, further + side, width)
    return lines


def link_text(link: Link) -> str:
    """Return latency and bandwidth of a link, in the units of machine files."""
    if link.alpha == 0 and link.beta == 0:
        return "free"
    rate = "no limit" if link.beta == 0 else f"{1e-9 / link.beta:.4g} GB/s"
    return f"{microseconds(link.alpha)}, {rate}"


def device_text(devices: Sequence[Device]) -> str:
    """Return the description of a device, or of several that differ only in their names."""
    device = devices[0]
    words = [run_name([d.name for d in devices]), device.kind, f"speed {device.speed:,.6g}"]
    if device.memory is not None:
        words.append(f"{device.memory / GIB:,.4g} GiB")
    if device.memory_units is not None:
        words.append(f"{device.memory_units:,.6g} units")
    for key, what in (("low_units", "at least"), ("high_units", "at most")):
        if (units := getattr(device, key)) is not None:
            words.append(f"{what} {units:,.6g} units")
    if device.fixed_seconds:
        words.append(f"{microseconds(device.fixed_seconds)} fixed")
    words += [
        f"{getattr(device, key):,.6g} {unit}"
        for key, unit in OWN.items()
        if getattr(device, key) is not None
    ]
    if device.host_link is not None:
        words.append(f"behind {safe(device.host)} ({link_text(device.host_link)})")
    words += _home_words(devices)
    words += [f"{safe(key)} {value:,.6g}" for key, value in device.capabilities.items()]
    return "  ".join(words)


def _home_words(devices: Sequence[Device]) -> list[str]:
    """Return the location of devices, as "host n1" or "cores 0-3"; of several, first and last."""
    from evener.platforms.homes import cores_text

    words = []
    ends = [
        ("" if d.host else d.node, cores_text(d.cores), "" if d.gpu is None else str(d.gpu))
        for d in (devices[0], devices[-1])
    ]
    for key, first, last in zip(("host", "cores", "gpu"), *ends, strict=True):
        if first or last:
            words.append(f"{key} {first}" if first == last else f"{key} {first} .. {last}")
    return words


def _fill(tree: TreeNode, platform: Platform, devices: Sequence[Device], depth: int) -> None:
    """Add the devices at one location, then its child locations."""
    own: list[Device] = []
    below: dict[str, list[Device]] = {}
    for device in devices:
        parts = device.at.split("/") if device.at else []
        if len(parts) > depth:
            below.setdefault(parts[depth], []).append(device)
        else:
            own.append(device)
    alike = [replace(d, name="-", node="", cores=(), gpu=None) for d in own]
    stated = [(bool(d.node), bool(d.cores), d.gpu is None) for d in own]
    runs = equal_runs(list(zip(alike, stated, strict=True)))
    _add_some(tree, (device_text(own[a:b]) for a, b in runs), len(runs), "groups of devices")
    for place, inside in list(below.items())[:MAX_LINES]:
        note = _level_note(platform, depth + 1)
        branch = tree.add(f"{safe(place)}: {plural(len(inside), 'device')}{note}")
        _fill(branch, platform, inside, depth + 1)
    if len(below) > MAX_LINES:
        tree.add(f"... and {len(below) - MAX_LINES:,} more places")


def _level_note(platform: Platform, depth: int) -> str:
    if depth >= len(platform.levels):
        return ""
    level = platform.levels[depth]
    return f" ({safe(level.name)}: {link_text(level.link)}{_shared(level)})"


def _shared(one: Level | Connection) -> str:
    return ", shared" if one.shared else ""


def _add_some(tree: TreeNode, lines: Iterable[str], count: int, what: str) -> None:
    for _, line in zip(range(MAX_LINES), lines, strict=False):
        tree.add(line)
    if count > MAX_LINES:
        tree.add(f"... and {count - MAX_LINES:,} more {what}")
