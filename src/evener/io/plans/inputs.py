"""Compares files read now with those that a plan was made from, by their SHA-256."""

from __future__ import annotations

from collections.abc import Mapping

from evener.io.sources import without_packing

_POLYMESH = {"points", "faces", "owner", "neighbour"}


def same_inputs(recorded: Mapping[str, str], found: Mapping[str, str]) -> bool:
    """Return whether `found` are the files that a plan records; True if it records none.

    Both map names to SHA-256; the first entry of `found` is the file named by the user. At least
    one file must be the same, under any name, and no file recorded in both may differ: otherwise a
    change of only the coordinates, or of one file of a mesh, would be missed. A mesh folder's own
    digest is ignored if the digests of its mesh files are known: other files in the folder may have
    been edited.
    """
    if not recorded:
        return True
    names = list(found)
    if {without_packing(name).name for name in names[1:]} >= _POLYMESH:
        names = names[1:]
    if any(recorded.get(name, found[name]) != found[name] for name in names):
        return False
    return bool(set(found.values()) & set(recorded.values()))
