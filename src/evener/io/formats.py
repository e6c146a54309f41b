"""The formats that can be read, one entry each, and how a file's format is recognised.

A signature in the content decides first. Among formats without a signature, the suffix decides; if
the suffix is unknown, the shape of the numbers decides. Some files that Evener does not read
resemble supported formats; refuse_foreign raises errors for these that say what to do.

To add a format: docs/architecture.md, Where to add what.
"""

from __future__ import annotations

import importlib
import re
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evener.errors import UsageError
from evener.wording import REMOVED, meant

if TYPE_CHECKING:
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.io.entries import Entries
    from evener.io.sources import Source

_REMOVED_SUFFIXES = {".stg": "stg"}
_DOT = re.compile(rb"\s*(strict\s+)?(di)?graph\b[^{\n]{0,200}\{", re.IGNORECASE)
# The head of an I-DEAS universal file: -1, then the number of the first data set.
_UNIVERSAL = re.compile(rb"\s*-1[ \t]*\r?\n[ \t]*\d{2,4}[ \t]*\r?\n")


def refuse_foreign(source: Source) -> None:
    """Raise InputError if the file has a foreign format that would be mistaken for another one."""
    if source.suffix == ".hgr":
        raise source.error(
            "is a hypergraph: a net joins any number of vertices, but an edge joins two",
            hint="Use the graph of the exchanges: for y = A x, the matrix A (.mtx), whose "
            "columns are the nets. hMETIS, PaToH and Mt-KaHyPar divide hypergraphs.",
        )
    if _DOT.match(source.head) or (source.suffix in (".dot", ".gv") and b"{" in source.head):
        raise source.error(
            "is a file of Graphviz (DOT), which Evener reads only as a stream graph",
            hint=f"{REMOVED['dot']}.",
        )
    if source.suffix == ".unv" or _UNIVERSAL.match(source.head):
        raise source.error(
            "is an I-DEAS universal file, which neither Evener nor meshlane reads",
            hint="Convert it with Gmsh: gmsh x.unv -save -o x.msh.",
        )


def refuse_removed(source: Source) -> None:
    """Raise InputError if the suffix belongs to a format that only earlier versions read."""
    name = _REMOVED_SUFFIXES.get(source.suffix)
    if name is not None:
        raise source.error(
            f"has the format {name}, which Evener no longer reads", hint=f"{REMOVED[name]}."
        )


def what_it_seems(source: Source) -> tuple[str, str]:
    """Describe a file of unknown format: return a guess of its content, and a hint."""
    unpack = "Unpack it, and name the file inside."
    if source.data.startswith(b"PK"):
        return "is a zip archive", unpack
    if _begins_with_tar_header(source):
        return "is a tar archive", unpack
    name = "--format NAME sets the format."
    if source.is_text:
        return "is text, but not a graph, matrix or mesh in a known format", name
    return "is binary, in an unknown format", name


def _begins_with_tar_header(source: Source) -> bool:
    try:
        tarfile.TarInfo.frombuf(source.data[:512], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


@dataclass(frozen=True)
class Format:
    """A file format, whose `module` has recognises(source) -> bool and read(source).

    read returns a Graph if `what` is "graph", a Mesh if it is "mesh" and an (n, d) array if it is
    "coords"; it raises only InputError. recognises never raises. If `writes`, the module also has
    write(graph) -> (content, sentences on omitted data). suffixes: choose the format of a file to
    be written; the first is the usual one. shape: the content has no signature, and its numbers
    could also be in another format, so the suffix is checked before the content. of: if the module
    has several formats, the ending of its function names, as in recognises_fesom. directed: whether
    the format can hold arcs; read(source, directed=True) then returns a DirectedGraph if the file
    contains arcs, and write accepts a DirectedGraph. stores: "matrix" (entries) or "lines" (of an
    edge list); the module then has entries(source, with_values=) -> Entries, or None if the file
    contains none.
    """

    name: str
    what: Literal["graph", "mesh", "coords"]
    module: str
    suffixes: tuple[str, ...] = ()
    writes: bool = False
    shape: bool = False
    of: str = ""
    directed: bool = False
    stores: Literal["", "matrix", "lines"] = ""

    def recognises(self, source: Source) -> bool:
        """Return whether the content, with the suffix as a hint, has this format."""
        return bool(self._function("recognises")(source))

    def read(self, source: Source, *, directed: bool = False) -> Any:
        """Return the Graph, Mesh or coordinates in `source`; arcs if requested and present."""
        if directed and self.directed:
            return self._function("read")(source, directed=True)
        return self._function("read")(source)

    def entries(self, source: Source, *, with_values: bool) -> Entries | None:
        """Return the entries that the file stores one by one; None if it stores no entries."""
        found: Entries | None = self._function("entries")(source, with_values=with_values)
        return found

    def write(self, graph: Graph | DirectedGraph) -> tuple[bytes, list[str]]:
        """Return the file content in this format, and a sentence for each thing it cannot hold."""
        content, left_out = self._function("write")(graph)
        return content, left_out

    def _function(self, verb: str) -> Any:
        module = importlib.import_module(f"evener.io.{self.module}")
        return getattr(module, f"{verb}_{self.of}" if self.of else verb)


# Order matters: an entry is tried only if all before it have declined. Formats with a
# signature come first, those distinguished by the shape of their numbers last.
FORMATS: tuple[Format, ...] = (
    Format("npz", "graph", "graphs.npz", (".npz",), writes=True, directed=True, stores="matrix"),
    Format("ecsr", "graph", "graphs.ecsr", (".ecsr",), writes=True),
    Format(
        "matrixmarket",
        "graph",
        "graphs.matrixmarket",
        (".mtx", ".mm"),
        writes=True,
        directed=True,
        stores="matrix",
    ),
    Format("openfoam", "mesh", "meshes.openfoam"),
    Format("gmsh", "mesh", "meshes.gmsh", (".msh",)),
    Format("mfem", "mesh", "meshes.mfem"),
    Format("medit", "mesh", "meshes.medit", (".mesh",)),
    Format("su2", "mesh", "meshes.su2", (".su2",)),
    Format("dolfin", "mesh", "meshes.dolfin", (".xml",)),
    Format("fesom", "mesh", "meshes.ocean", of="fesom"),
    Format("obj", "mesh", "meshes.obj", (".obj",)),
    Format("graphml", "graph", "graphs.graphml", (".graphml",), directed=True),
    Format("dimacs", "graph", "graphs.dimacs", (".gr", ".col", ".dimacs"), directed=True),
    Format("off", "mesh", "meshes.off", (".off",)),
    Format("meshio", "mesh", "meshes.meshio"),
    Format(
        "harwell-boeing",
        "graph",
        "graphs.harwell_boeing",
        (".rua", ".rsa", ".psa", ".pua", ".hb"),
        directed=True,
        stores="matrix",
    ),
    Format("scotch", "graph", "graphs.scotch", (".grf", ".src"), writes=True),
    Format("fort14", "mesh", "meshes.ocean", (".14", ".grd", ".gr3"), shape=True, of="fort14"),
    Format("kratos", "mesh", "meshes.kratos", (".mdpa",), shape=True),
    Format("abaqus", "mesh", "meshes.abaqus", (".inp",), shape=True),
    Format("nastran", "mesh", "meshes.nastran", (".bdf", ".nas", ".fem"), shape=True),
    Format("tetgen", "mesh", "meshes.tetgen", (".ele", ".node"), shape=True),
    Format("scotch-mesh", "mesh", "meshes.unplaced", shape=True, of="scotch"),
    Format("metis-mesh", "mesh", "meshes.unplaced", (".mesh",), shape=True, of="metis"),
    Format(
        "metis",
        "graph",
        "graphs.metis",
        (".graph", ".metis", ".chaco"),
        writes=True,
        shape=True,
    ),
    Format("coordinates", "coords", "coordinates", (".xyz",), shape=True),
    Format(
        "triplets",
        "graph",
        "graphs.pairs",
        (".triplet", ".triplets", ".tri", ".ijv", ".mtx"),
        shape=True,
        directed=True,
        stores="matrix",
    ),
    Format(
        "edges",
        "graph",
        "graphs.edges",
        (".csv", ".tsv", ".edgelist", ".edges", ".el"),
        writes=True,
        shape=True,
        directed=True,
        stores="lines",
    ),
)


def format_named(name: str) -> Format:
    """Return the format called `name`; raise UsageError, which lists all, if there is none."""
    for entry in FORMATS:
        if entry.name == name:
            return entry
    names = [entry.name for entry in FORMATS]
    raise UsageError(
        f"there is no format {name!r}{meant(name, names)}", hint=f"Formats: {', '.join(names)}."
    )


def format_of(source: Source) -> Format:
    """Return the format of `source`; raise InputError if no format recognises it.

    Formats with a signature are tried first, those of the suffix before others. Then the suffix
    decides: text that none of its formats recognises is read as the first of them, whose reader
    reports what is wrong. If the suffix is unknown, all formats are tried.
    """
    refuse_foreign(source)
    named = [entry for entry in FORMATS if entry.shape and source.suffix in entry.suffixes]
    signed = [entry for entry in FORMATS if not entry.shape]
    signed.sort(key=lambda entry: source.suffix not in entry.suffixes)  # loads one module only
    for entry in signed + (named or list(FORMATS)):
        if entry.recognises(source):
            return entry
    if named and source.is_text:
        return named[0]
    message, hint = what_it_seems(source)
    raise source.error(message, hint=hint)


def why_taken(entry: Format, source: Source) -> str:
    """Return a sentence that states which format was chosen for a file, and why."""
    by_suffix = entry.name == "meshio" or (entry.shape and source.suffix in entry.suffixes)
    why = f"its suffix {source.suffix}" if by_suffix else "its content"
    return f"Read as {entry.name} because of {why}; --format NAME overrides it."
