"""Expands the [[network]] tables of machine files: meshes, tori, stars and fat trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evener.errors import InputError
from evener.io.machines import toml_tables as tables
from evener.platforms.device import Connection, Link
from evener.platforms.topologies import KINDS, fat_tree_links, mesh_links, star_links
from evener.wording import nearest

_NEEDED = {"mesh": "shape", "torus": "shape", "fat-tree": "arity"}
SWITCH = "switch"  # name of switches, followed by numbers in a fat tree


def names_of(table: Mapping[str, Any]) -> list[str]:
    """Return the names of the devices of a [[device]] table."""
    if "count" not in table:
        return [table["name"]]
    return [f"{table['name']}{i}" for i in range(table["count"])]


def links_of_networks(
    networks: Sequence[Mapping[str, Any]],
    device_tables: Sequence[Mapping[str, Any]],
    names: Sequence[str],
) -> list[Connection]:
    """Return the links of all networks; a network without `devices` joins all `names`.

    Raises TableError with the place of the mistake.
    """
    of_table = {table["name"]: names_of(table) for table in device_tables if "count" in table}
    links: list[Connection] = []
    switches: set[str] = set()
    for index, table in enumerate(networks):
        joined = _joined(table, index, of_table, names)
        try:
            made = _links(table, index, joined)
        except InputError as error:
            raise tables.TableError(error.message, "network", index, hint=error.hint) from error
        own = {end for one in made for end in one.between}.difference(joined)
        clash = own & (switches | set(names))
        if clash:
            message = (
                f"{min(clash)!r} is the name of a switch of this network and of something else"
            )
            hint = "Give the network another name: its switches are named after it."
            raise tables.TableError(message, "network", index, "name", hint=hint)
        switches |= own
        links += [replace(one, shared=table.get("shared", False)) for one in made]
    return links


def _joined(
    table: Mapping[str, Any],
    index: int,
    of_table: Mapping[str, list[str]],
    names: Sequence[str],
) -> Sequence[str]:
    """Return the names of the devices that a network joins, in order."""
    found: list[str] = []
    for one in table.get("devices", ()):
        if one not in of_table and one not in names:
            message = f"a network joins {tables.shown(one)}, which is not a [[device]]"
            raise tables.TableError(message, "network", index, "devices")
        found += of_table.get(one, [one])
    return found or names


def _links(table: Mapping[str, Any], index: int, names: Sequence[str]) -> list[Connection]:
    kind = table["kind"]
    if kind not in KINDS:
        guess = nearest(kind, KINDS)
        question = f"; did you mean {guess}?" if guess else ""
        message = f"there is no kind of network {tables.shown(kind)}{question}"
        hint = f"Kinds of networks: {', '.join(KINDS)}."
        raise tables.TableError(message, "network", index, "kind", hint=hint)
    for key in ("shape", "arity"):
        if (key in table) != (_NEEDED.get(kind) == key):
            said = "has no" if _NEEDED.get(kind) == key else "has no use for"
            raise tables.TableError(f"a {kind} {said} {key}", "network", index, key)
    link = Link(table.get("alpha_us", 0.0), table.get("GB_per_s", 0.0))
    switch = table.get("name", SWITCH)
    if kind == "star":
        return star_links(names, link, switch)
    if kind == "fat-tree":
        return fat_tree_links(names, table["arity"], link, switch)
    return mesh_links(names, table["shape"], link, wrap=kind == "torus")
