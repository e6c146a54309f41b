"""The formats that can be read, one entry each, and how a file's format is recognised.

A signature in the content decides first. The suffix decides among formats that have none, and the
shape of the numbers where the suffix says nothing. Some files that are not read look like others;
refuse_foreign names them and what to do.
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
    """Raise InputError for a file of a foreign format that would be mistaken for another one."""
    if source.suffix == ".hgr":
        raise source.error(
            "is a hypergraph: a net joins any number of vertices, an edge two",
            hint="Use the graph of the exchanges: for y = A x that is the matrix A (.mtx), "
            "whose columns are the nets. hMETIS, PaToH and Mt-KaHyPar divide hypergraphs.",
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
    """Raise InputError for a suffix of a format that earlier versions read."""
    name = _REMOVED_SUFFIXES.get(source.suffix)
    if name is not None:
        raise source.error(
            f"has the format {name}, which Evener no longer reads", hint=f"{REMOVED[name]}."
        )


def what_it_seems(source: Source) -> tuple[str, str]:
    """Return two texts about a file of no known format: what it seems to be, and what to do."""
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
    """A file format: `module` has recognises(source) -> bool and read(source).

    read returns a Graph where `what` is "graph", a Mesh where it is "mesh" and an (n, d) array
    where it is "coords"; it raises InputError and nothing else. recognises never raises.
    Where `writes`, the module also has write(graph) -> (content, what was left out). `suffixes`
    choose the format of a file to be written; the first is the usual one. shape: the content has no
    signature, and its numbers alone may be another format's: the suffix comes before them. of: in a
    module of several formats, what its functions' names end with, as recognises_fesom. directed:
    whether it can hold arcs; read(source, directed=True) then returns a DirectedGraph where the
    file holds arcs, and write takes one. stores: entries of a "matrix" or "lines" of an edge list;
    the module then has entries(source, with_values=) -> Entries, or None for a file that holds
    none.
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
        """Whether the content, with the suffix as a hint, is of this format."""
        return bool(self._function("recognises")(source))

    def read(self, source: Source, *, directed: bool = False) -> Any:
        """Return the Graph, the Mesh or the coordinates in `source`; arcs if asked and it can."""
        if directed and self.directed:
            return self._function("read")(source, directed=True)
        return self._function("read")(source)

    def entries(self, source: Source, *, with_values: bool) -> Entries | None:
        """Return what the file stores one by one; None where it is another kind of file."""
        found: Entries | None = self._function("entries")(source, with_values=with_values)
        return found

    def write(self, graph: Graph | DirectedGraph) -> tuple[bytes, list[str]]:
        """Return the content of a file of this format and a sentence for all it cannot hold."""
        content, left_out = self._function("write")(graph)
        return content, left_out

    def _function(self, verb: str) -> Any:
        module = importlib.import_module(f"evener.io.{self.module}")
        return getattr(module, f"{verb}_{self.of}" if self.of else verb)


# Order matters: an entry is asked only when all before it have declined. Formats with a
# signature come first, those told apart by the shape of their numbers last.
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
    """Return the format called `name`; UsageError lists all where there is none."""
    for entry in FORMATS:
        if entry.name == name:
            return entry
    names = [entry.name for entry in FORMATS]
    raise UsageError(
        f"there is no format {name!r}{meant(name, names)}", hint=f"Formats: {', '.join(names)}."
    )


def format_of(source: Source) -> Format:
    """Return the format of `source`; InputError where none recognises it.

    Formats with a signature are asked first. Then the suffix decides: text that its formats do not
    recognise is read as the first of them, which says what is wrong with it. All are asked where
    the suffix is of none.
    """
    refuse_foreign(source)
    named = [entry for entry in FORMATS if entry.shape and source.suffix in entry.suffixes]
    asked = [entry for entry in FORMATS if not entry.shape] + (named or list(FORMATS))
    for entry in asked:
        if entry.recognises(source):
            return entry
    if named and source.is_text:
        return named[0]
    message, hint = what_it_seems(source)
    raise source.error(message, hint=hint)


def why_taken(entry: Format, source: Source) -> str:
    """Return the sentence that says which format a file was taken for, and why."""
    by_suffix = entry.name == "meshio" or (entry.shape and source.suffix in entry.suffixes)
    why = f"its suffix {source.suffix}" if by_suffix else "its content"
    return f"Read as {entry.name} because of {why}; --format NAME overrides it."
