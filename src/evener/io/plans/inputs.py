"""Whether files read now are those that a plan was made from, by their SHA-256."""

from __future__ import annotations

from collections.abc import Mapping

from evener.io.sources import without_packing

_POLYMESH = {"points", "faces", "owner", "neighbour"}


def same_inputs(recorded: Mapping[str, str], found: Mapping[str, str]) -> bool:
    """Return whether `found` are the files that a plan records, or it records none.

    Both map names to SHA-256, `found` the file that was named first. One file must be the same,
    under any name, and none that both name may differ: of a graph and its coordinates, or the
    files of a mesh, one alone may have changed. The digest of a whole folder does not count where
    those of its files are known: others in it may be edited.
    """
    if not recorded:
        return True
    names = list(found)
    if {without_packing(name).name for name in names[1:]} >= _POLYMESH:
        names = names[1:]
    if any(recorded.get(name, found[name]) != found[name] for name in names):
        return False
    return bool(set(found.values()) & set(recorded.values()))
