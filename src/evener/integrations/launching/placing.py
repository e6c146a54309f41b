"""Where each rank of a program runs: rank r has block r of the plan, and runs on device r."""

from __future__ import annotations

import os
import socket
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evener.errors import InputError
from evener.platforms.homes import cores_text
from evener.platforms.platform import Platform
from evener.wording import meant, plural

LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class RankPlace:
    """Where a rank runs. cores: empty means any core; gpu: index, UUID, or None if not stated.

    kind: the kind of the rank's device, for programs whose options depend on it.
    """

    rank: int
    device: str
    host: str
    cores: tuple[int, ...] = ()
    gpu: int | str | None = None
    kind: str = "cpu"


def places_of(platform: Platform) -> list[RankPlace]:
    """Return the place of each device, in order.

    If no device names a host, all devices are on this computer. Raises InputError if only some
    devices name a host.
    """
    here = this_host()
    named = [device.node for device in platform.devices]
    if any(named) and not all(named):
        without = platform.devices[named.index("")].name
        raise InputError(
            f"device {without!r} has no host, but other devices have one",
            hint="State the host of each device, or of none if all are on this computer.",
        )
    return [
        RankPlace(
            rank,
            device.name,
            here if device.node in ("", *LOCAL) else device.node,
            device.cores,
            device.gpu,
            device.kind,
        )
        for rank, device in enumerate(platform.devices)
    ]


def this_host() -> str:
    """Return the name of this computer."""
    return socket.gethostname()


def is_here(host: str) -> bool:
    """Return whether a host is this computer, by its full name or the part before the first dot."""
    here = this_host()
    return host in (*LOCAL, here, short(here)) or short(host) == here


def short(host: str) -> str:
    """Return a computer's name without its domain."""
    return host.partition(".")[0]


def by_host(places: Iterable[RankPlace]) -> dict[str, list[RankPlace]]:
    """Return the places of each host; hosts in the order of their first ranks."""
    found: dict[str, list[RankPlace]] = defaultdict(list)
    for place in places:
        found[place.host].append(place)
    return dict(found)


def is_in_runs(places: Sequence[RankPlace]) -> bool:
    """Return whether the ranks of each host are consecutive."""
    changes = sum(a.host != b.host for a, b in pairwise(places))
    return changes == len(by_host(places)) - 1


def refuse_other_hosts(
    places: Iterable[RankPlace], hosts: Mapping[str, int | None], file: str
) -> None:
    """Raise InputError for a host that the hostfile lacks, or that has fewer slots than ranks.

    hosts: slots of each host, None if the file does not state them.
    """
    for host, own in by_host(places).items():
        known = next((one for one in hosts if _is_same(one, host)), None)
        if known is None:
            raise InputError(
                f"lacks host {host!r} of device {own[0].device!r}{meant(host, hosts)}",
                file=file,
                hint=f"Hosts: {', '.join(list(hosts)[:8])}{', ...' if len(hosts) > 8 else ''}.",
            )
        slots = hosts[known]
        if slots is not None and slots < len(own):
            raise InputError(
                f"has {plural(slots, 'slot')} for host {host!r}, but {len(own):,} devices use it",
                file=file,
                hint="Each device has a rank: add slots, or plan for fewer devices on this host.",
            )


def _is_same(a: str, b: str) -> bool:
    return a == b or (is_here(a) and is_here(b))


def refuse_missing_cores(
    places: Iterable[RankPlace], usable: Collection[int] | None = None
) -> None:
    """Raise InputError if a core of this computer does not exist; other computers are not checked.

    usable: the cores that this process may use; None asks the system.
    """
    may_use = os.sched_getaffinity(0) if usable is None else usable
    for place in places:
        missing = [core for core in place.cores if core not in may_use]
        if missing and is_here(place.host):
            raise InputError(
                f"there is no core {cores_text(missing)} on {place.host} for device "
                f"{place.device!r}",
                hint=f"This process may use {cores_text(may_use)}.",
            )


def share_cores(places: Iterable[RankPlace]) -> bool:
    """Return whether ranks share a core, or outnumber the cores of this computer."""
    return any(
        len({core for place in own for core in place.cores}) < sum(len(p.cores) for p in own)
        or (is_here(host) and len(own) > len(os.sched_getaffinity(0)))
        for host, own in by_host(places).items()
    )


def oddities(places: Iterable[RankPlace]) -> list[str]:
    """Return a sentence for each host on which ranks share cores or a GPU."""
    found = []
    for host, own in by_host(places).items():
        cores = Counter(core for place in own for core in place.cores)
        shared = [core for core, n in cores.items() if n > 1]
        if shared:
            which = f"core{'s' if len(shared) > 1 else ''} {cores_text(shared)} of {host}"
            found.append(f"{which}: up to {max(cores.values()):,} ranks on one core")
        gpus = Counter(place.gpu for place in own if place.gpu is not None)
        for gpu, n in gpus.items():
            if n > 1:
                ranks = ", ".join(str(place.rank) for place in own if place.gpu == gpu)
                found.append(f"gpu {gpu} of {host} has {n} ranks: {ranks}")
    return found
