"""Example platforms: TOPO1, TOPO2 and TOPO3 of [LDHT]_, flat ones, trees, and grids of links.

The papers' machines have fast devices, and slow ones of speed 1 and memory 2 (relative numbers);
the faster the fast devices are, the smaller is their memory relative to their speed (Table III).
Devices have the order fast, middle, slow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from evener.errors import UsageError
from evener.platforms.network import fat_tree_links, mesh_links, star_links
from evener.platforms.platform import MAX_DEVICES, Device, Level, Link, Platform

# Table III of [LDHT]_: relative memory of the fast devices by their speed.
TABLE_III = {1.0: 2.0, 2.0: 3.2, 4.0: 5.2, 8.0: 8.5, 16.0: 13.8}
SLOW_SPEED, SLOW_MEMORY = 1.0, 2.0
# Share of the total memory that the load takes, inferred from Table III's last column. It fits
# only approximately: no single share gives all of the numbers (`python -m papers.ldht`).
FILLED = 5 / 6
# Speed of middle devices without memory, inferred from Table IV's cuts of TOPO1 and TOPO2.
MIDDLE_SPEED = 2.0
DEVICES_PER_NODE = 24  # of the paper's cluster, section VI-C
TOPO3_K, TOPO3_FAST = (96, 192), (24, 48)

# A modern cluster: 2 us and 10 GB/s between nodes, 0.5 us and 40 GB/s within a node.
CLUSTER_LINK = Link(2e-6, 1e-10)
NODE_LINK = Link(5e-7, 2.5e-11)
SOCKET_LINK = Link(2e-7, 1e-11)
SITE_LINK = Link(2e-5, 1e-9)  # between clusters
TREE_LEVELS = (
    Level("site", SITE_LINK),
    Level("cluster", CLUSTER_LINK),
    Level("node", NODE_LINK),
    Level("socket", SOCKET_LINK),
)


def topo1(
    k: int,
    fast: int,
    speed: float,
    *,
    units: int | None = None,
    memory_caps: bool = True,
    links: bool = False,
) -> Platform:
    """Return `fast` devices of `speed` and k - fast slow ones of speed 1 ([LDHT]_, VI-A).

    With `units`, the memories of Table III are scaled so that `units` are 5/6 of their total;
    without `units`, or without memory_caps, devices have no memory limit. `links` puts every 24
    devices into a node of a cluster. Raises UsageError for invalid counts, and for a speed outside
    Table III if memory is requested.
    """
    _check_counts(k, fast)
    return _fast_and_slow("topo1", k, fast, speed, units if memory_caps else None, links)


def topo2(
    k: int,
    fast: int,
    speed: float,
    *,
    units: int | None = None,
    memory_caps: bool = True,
    links: bool = False,
    middle: float | None = None,
) -> Platform:
    """Return topo1 with (k - fast) // 2 of the slow devices made middle ones ([LDHT]_, VI-B).

    With memory, a middle device has the slow devices' memory and half the fast devices' ratio of
    speed to memory (Eq. 5 taken literally: it is slower than a slow one unless the fast ones have
    speed 16; see `note_on_middle`); without memory, it has the speed `middle`, 2 by default. Raises
    the errors of topo1, and UsageError for `middle` together with memory.
    """
    _check_counts(k, fast)
    units = units if memory_caps else None
    memory = _memory(speed, units)
    if units is not None and middle is not None:
        raise UsageError(
            "a middle speed and memory are given, but the memory determines that speed "
            "(equation 5 of [LDHT])",
            hint="Remove --middle, or add --no-memory-caps.",
        )
    if middle is None:
        middle = MIDDLE_SPEED if units is None else 0.5 * speed / memory * SLOW_MEMORY
    half = (k - fast) // 2
    groups = [
        ("fast", fast, speed, memory),
        ("mid", half, middle, SLOW_MEMORY),
        _slow(k - fast - half),
    ]
    return _platform("topo2", groups, units, links)


def note_on_middle(platform: Platform) -> str | None:
    """Return a warning if TOPO2's middle devices are slower than its slow ones, else None."""
    speeds = {device.name.rstrip("0123456789"): device.speed for device in platform.devices}
    middle, slow = speeds.get("mid"), speeds.get("slow")
    if middle is None or slow is None or middle >= slow:
        return None
    return (
        f"middle devices have speed {middle:.3g}, less than slow ones ({slow:g}): equation 5 "
        "of the paper gives this"
    )


def topo3(
    k: int,
    fast: int,
    speed: float,
    *,
    units: int | None = None,
    memory_caps: bool = True,
    links: bool = False,
) -> Platform:
    """Return 4 or 8 nodes of 24 devices, 1 or 2 of them fast, the rest slow ([LDHT]_, VI-C).

    k, the number of devices, is 96 or 192 (the paper has 182, which is not 8 nodes of 24); fast,
    the number of fast devices, is 24 or 48. The paper gives no speeds and memories; this function
    uses those of Table III. Otherwise as topo1; raises UsageError for other counts.
    """
    if k not in TOPO3_K or fast not in TOPO3_FAST:
        raise UsageError(
            f"TOPO3 has whole nodes of {DEVICES_PER_NODE} devices: k must be 96 or 192 (4 or 8 "
            f"nodes), fast 24 or 48 (1 or 2 nodes), not k {k}, fast {fast}"
        )
    return _fast_and_slow("topo3", k, fast, speed, units if memory_caps else None, links)


def grid(
    shape: Sequence[int],
    *,
    speeds: Sequence[float] | None = None,
    link: Link = NODE_LINK,
    wrap: bool = False,
    able: Sequence[Mapping[str, float]] = ({},),
) -> Platform:
    """Return an nx x ny (x nz) grid of devices pe0, pe1, ..., neighbours joined by `link`.

    Devices are numbered along the last dimension first. `speeds` has one number per device, or one
    for all; 1 by default. wrap: rows are rings, which makes it a torus. able: capabilities,
    assigned to the devices cyclically; if no speeds are given, mips among them determine the speed.
    Raises UsageError for invalid shapes and numbers of speeds.
    """
    n_devices = 1
    for extent in shape:
        n_devices *= max(extent, 0)
    if not (len(shape) in (2, 3) and 2 <= n_devices <= MAX_DEVICES):
        said = "x".join(map(str, shape))
        raise UsageError(f"a grid must be NXxNY or NXxNYxNZ, with two devices or more, not {said}")
    devices = _alike(n_devices, speeds, able)
    links = mesh_links([device.name for device in devices], shape, link, wrap=wrap)
    name = ("torus " if wrap else "grid ") + "x".join(map(str, shape))
    return Platform(devices, connections=tuple(links), name=name)


def star(
    k: int, *, link: Link = NODE_LINK, able: Sequence[Mapping[str, float]] = ({},)
) -> Platform:
    """Return k devices pe0, pe1, ... joined to one switch; able: as in `grid`.

    Raises UsageError for fewer than two.
    """
    devices = _alike(_several(k), None, able)
    links = star_links([device.name for device in devices], link, "switch")
    return Platform(devices, connections=tuple(links), name=f"star of {k}")


def fat_tree(
    k: int, arity: int, *, link: Link = NODE_LINK, able: Sequence[Mapping[str, float]] = ({},)
) -> Platform:
    """Return k devices pe0, pe1, ... below a fat tree of switches; able: as in `grid`.

    `link` joins a device to its switch; links above have the bandwidth of all devices below. Raises
    UsageError for fewer than two devices, and for an arity below 2.
    """
    if arity < 2:
        raise UsageError(f"the arity of a fat tree must be >= 2, not {arity}")
    devices = _alike(_several(k), None, able)
    links = fat_tree_links([device.name for device in devices], arity, link, "switch")
    return Platform(devices, connections=tuple(links), name=f"fat tree of {k}")


def _several(k: int) -> int:
    if not 2 <= k <= MAX_DEVICES:
        raise UsageError(f"a network joins 2 to {MAX_DEVICES:,} devices, not {k:,}")
    return k


def _alike(
    k: int, speeds: Sequence[float] | None, able: Sequence[Mapping[str, float]]
) -> tuple[Device, ...]:
    """Return k devices pe0, ... with cyclic capabilities; speeds: as given, by mips, or 1."""
    if speeds is None:
        speeds = [1e6 * own["mips"] if "mips" in own else 1.0 for own in able]
        speeds = [speeds[i % len(able)] for i in range(k)]
    elif len(speeds) == 1:
        speeds = [*speeds] * k
    if len(speeds) != k:
        raise UsageError(f"{len(speeds)} speeds for a grid of {k} devices")
    return tuple(
        Device(f"pe{i}", float(speed), capabilities=dict(able[i % len(able)]))
        for i, speed in enumerate(speeds)
    )


def tree(
    shape: Sequence[int], *, fast: int = 0, speed: float = 16.0, slow_speed: float = SLOW_SPEED
) -> Platform:
    """Return a tree of nodes x devices, nodes x sockets x devices, or clusters of these.

    The first `fast` devices of every lowest group have `speed`, the rest `slow_speed` [units/s].
    Raises UsageError for invalid shapes and counts.
    """
    said = "x".join(map(str, shape))
    n_devices = 1
    for extent in shape:
        n_devices *= max(extent, 0)
    if not (2 <= len(shape) <= 4 and 2 <= n_devices <= MAX_DEVICES):
        raise UsageError(
            "a tree must be NODESxDEVICES, NODESxSOCKETSxDEVICES or "
            "CLUSTERSxNODESxSOCKETSxDEVICES, "
            f"with two devices or more, not {said}"
        )
    if not 0 <= fast <= shape[-1]:
        raise UsageError(f"a group has {shape[-1]:,} devices, so {fast:,} cannot be fast")
    letters = {2: "n", 3: "ns", 4: "cns"}[len(shape)]
    devices = []
    for i, place in enumerate(product(*map(range, shape))):
        at = "/".join(f"{word}{x}" for word, x in zip(letters, place, strict=False))
        is_fast = place[-1] < fast
        name = f"{'fast' if is_fast else 'slow'}{i}"
        devices.append(Device(name, float(speed if is_fast else slow_speed), at=at))
    first = 0 if len(shape) == 4 else 1
    return Platform(tuple(devices), TREE_LEVELS[first : first + len(shape)], name=f"tree {said}")


PLATFORMS: dict[str, Callable[..., Platform]] = {
    "topo1": topo1,
    "topo2": topo2,
    "topo3": topo3,
    "flat": Platform.flat,
    "grid": grid,
    "tree": tree,
}

_Group = tuple[str, int, float, float]  # name, how many, speed, relative memory


def _slow(count: int) -> _Group:
    return ("slow", count, SLOW_SPEED, SLOW_MEMORY)


def _memory(speed: float, units: int | None) -> float:
    """Return the relative memory of a fast device; without `units` the value has no effect."""
    if units is None:
        return SLOW_MEMORY
    if units < 1:
        raise UsageError(f"--units must be above zero, not {units}")
    if speed not in TABLE_III:
        known = ", ".join(f"{s:g}" for s in TABLE_III)
        raise UsageError(
            f"Table III has no memory for a fast device of speed {speed:g}; it has {known}",
            hint="Choose one of these, or add --no-memory-caps.",
        )
    return TABLE_III[speed]


def _check_counts(k: int, fast: int) -> None:
    if not 1 <= k <= MAX_DEVICES:
        raise UsageError(f"k must lie between 1 and {MAX_DEVICES:,}, not {k:,}")
    if not 0 <= fast <= k:
        raise UsageError(f"there are {k:,} devices, so {fast:,} cannot be fast")


def _fast_and_slow(
    name: str, k: int, fast: int, speed: float, units: int | None, links: bool
) -> Platform:
    """Return `fast` devices of `speed` and k - fast slow ones; units None: without memory."""
    return _platform(
        name, [("fast", fast, speed, _memory(speed, units)), _slow(k - fast)], units, links
    )


def _platform(name: str, groups: Sequence[_Group], units: int | None, links: bool) -> Platform:
    total = sum(count * memory for _, count, _, memory in groups)
    devices: list[Device] = []
    for group, count, speed, memory in groups:
        cap = None if units is None else memory * (units / FILLED / total)
        for i in range(count):
            at = f"n{len(devices) // DEVICES_PER_NODE}" if links else ""
            devices.append(Device(f"{group}{i}", float(speed), memory_units=cap, at=at))
    levels = (Level("cluster", CLUSTER_LINK), Level("node", NODE_LINK)) if links else ()
    return Platform(tuple(devices), levels, name=name)
