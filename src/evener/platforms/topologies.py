"""Links of common networks between devices: meshes, tori, stars, fat trees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from evener.errors import InputError
from evener.platforms.device import Connection, Link

KINDS = ("mesh", "torus", "star", "fat-tree")


def mesh_links(
    names: Sequence[str], shape: Sequence[int], link: Link, *, wrap: bool = False
) -> list[Connection]:
    """Return the links between neighbours in a mesh of this shape, with the last dimension fastest.

    wrap: also between the first and the last of each row of three or more, which makes it a torus.
    Raises InputError if the number of places in the shape differs from the number of names.
    """
    if prod(shape) != len(names):
        said = "x".join(map(str, shape))
        raise InputError(f"a mesh of {said} has {prod(shape):,} places, for {len(names):,} devices")
    place_of = {place: i for i, place in enumerate(product(*map(range, shape)))}
    links = []
    for place, i in place_of.items():
        for axis, extent in enumerate(shape):
            ahead = place[axis] + 1
            if ahead == extent and not (wrap and extent > 2):
                continue
            other = place_of[(*place[:axis], ahead % extent, *place[axis + 1 :])]
            links.append(Connection((names[i], names[other]), link))
    return links


def star_links(names: Sequence[str], link: Link, switch: str) -> list[Connection]:
    """Return a link from each device to one switch. Raises the errors of `fat_tree_links`."""
    _refuse_taken(names, [switch])
    return [Connection((name, switch), link) for name in names]


def fat_tree_links(names: Sequence[str], arity: int, link: Link, switch: str) -> list[Connection]:
    """Return the links of a fat tree [Leiserson85]_ with `arity` devices or switches per switch.

    An upward link has the total bandwidth of all devices below it. Switch names begin with
    `switch`: switch1.0 at the lowest level, switch2.0 above. Raises InputError if a device has such
    a name, and for an arity below 2.
    """
    if arity < 2:
        raise InputError(f"the arity of a fat tree must be >= 2, not {arity}")
    below, sizes, links, level = list(names), [1] * len(names), list[Connection](), 0
    while level == 0 or len(below) > 1:
        level += 1
        groups = range(0, len(below), arity)
        above = [f"{switch}{level}.{i}" for i in range(len(groups))]
        _refuse_taken(names, above)
        for i, (one, size) in enumerate(zip(below, sizes, strict=True)):
            fat = Link(link.alpha, link.beta / size)
            links.append(Connection((one, above[i // arity]), fat))
        below, sizes = above, [sum(sizes[first : first + arity]) for first in groups]
    return links


def _refuse_taken(names: Sequence[str], switches: Sequence[str]) -> None:
    taken = set(names).intersection(switches)
    if taken:
        raise InputError(
            f"a switch and a device both have the name {min(taken)!r}",
            hint="Give the network another name: its switches are named after it.",
        )
