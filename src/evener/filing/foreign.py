"""Files that are not read: what they are, and the way round."""

from __future__ import annotations

import re
import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evener.filing.sources import Source

# A universal file's first data set: -1, its number, in columns of six.
_UNIVERSAL = re.compile(rb"\s*-1[ \t]*\r?\n[ \t]*\d{2,4}[ \t]*\r?\n")


def refuse_foreign(source: Source) -> None:
    """Raise InputError for what would be taken for something else, as its numbers look alike."""
    if source.suffix == ".hgr":
        raise source.error(
            "is a hypergraph: a net joins any number of vertices at once, and is no edge",
            hint="Give the graph of what is exchanged: for y = A x that is the matrix A (.mtx), "
            "whose columns are the nets. hMETIS, PaToH and Mt-KaHyPar divide nets as they are.",
        )
    if source.suffix == ".unv" or _UNIVERSAL.match(source.head):
        raise source.error(
            "is an I-DEAS universal file, which neither Evener nor meshio reads",
            hint="Gmsh makes a mesh of it that is read: gmsh x.unv -save -o x.msh.",
        )


def what_it_seems(source: Source) -> tuple[str, str]:
    """Return what a file of no known format seems to be, and what to do."""
    unpack = "Unpack it and name the file meant."
    if source.data.startswith(b"PK"):
        return "is a zip archive", unpack
    if _begins_with_tar_header(source):
        return "is a tar archive", unpack
    name = "--format NAME says what it is."
    if source.is_text:
        return "is text, but no graph, matrix or mesh of a format known here", name
    return "is binary, and of no format known here", name


def _begins_with_tar_header(source: Source) -> bool:
    try:
        tarfile.TarInfo.frombuf(source.data[:512], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True
