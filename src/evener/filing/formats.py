"""What can be read, and how it is recognised: one entry a format, the most certain first."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evener.errors import UsageError
from evener.filing.foreign import refuse_foreign, what_it_seems
from evener.naming import meant

if TYPE_CHECKING:
    from evener.filing.sources import Source
    from evener.graphs import Graph


@dataclass(frozen=True)
class Format:
    """A file format: `module` has recognises(source) -> bool and read(source).

    read returns a Graph where `what` is "graph", a Mesh where it is "mesh" and an (n, d) array
    where it is "coords"; it raises InputError and nothing else. recognises never raises.
    Where `writes`, the module also has write(graph) -> (content, what was left out). `suffixes`
    choose the format of a file to be written; the first is the usual one.
    """

    name: str
    what: Literal["graph", "mesh", "coords"]
    module: str
    suffixes: tuple[str, ...] = ()
    writes: bool = False

    def recognises(self, source: Source) -> bool:
        """Whether the content, with the suffix as a hint, is of this format."""
        return bool(self._module().recognises(source))

    def read(self, source: Source) -> Any:
        """Return the Graph, the Mesh or the coordinates in `source`."""
        return self._module().read(source)

    def write(self, graph: Graph) -> tuple[bytes, list[str]]:
        """Return the content of a file of this format and a sentence for all it cannot hold."""
        content, left_out = self._module().write(graph)
        return content, left_out

    def _module(self) -> Any:
        return importlib.import_module(f"evener.filing.{self.module}")


# Order matters: an entry is asked only when all before it have declined. Formats with a
# signature come first, those told apart by the shape of their numbers last.
FORMATS: tuple[Format, ...] = (
    Format("npz", "graph", "npz", (".npz",), writes=True),
    Format("matrixmarket", "graph", "matrixmarket", (".mtx", ".mm"), writes=True),
    Format("openfoam", "mesh", "meshes_openfoam"),
    Format("gmsh", "mesh", "meshes_gmsh", (".msh",)),
    Format("medit", "mesh", "meshes_medit", (".mesh",)),
    Format("su2", "mesh", "meshes_su2", (".su2",)),
    Format("dolfin", "mesh", "meshes_dolfin", (".xml",)),
    Format("fesom", "mesh", "meshes_fesom"),
    Format("obj", "mesh", "meshes_obj", (".obj",)),
    Format("dot", "graph", "dot", (".dot", ".gv")),
    Format("meshio", "mesh", "meshes_meshio"),
    # Told by their shape from here on.
    Format("harwell-boeing", "graph", "harwell_boeing", (".rua", ".rsa", ".psa", ".pua", ".hb")),
    Format("scotch", "graph", "scotch", (".grf", ".src"), writes=True),
    Format("fort14", "mesh", "meshes_fort14", (".14", ".grd")),
    Format("scotch-mesh", "mesh", "meshes_scotch"),
    Format("metis-mesh", "mesh", "meshes_metis"),
    Format("metis", "graph", "metis", (".graph", ".metis", ".chaco"), writes=True),
    Format("coordinates", "coords", "coordinates", (".xyz",)),
    Format("triplets", "graph", "triplets", (".triplet", ".tri", ".ijv")),
    Format("edges", "graph", "edges", (".csv", ".tsv", ".edgelist", ".edges", ".el"), writes=True),
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
    """Return the first format that recognises `source`; InputError where none does."""
    refuse_foreign(source)
    for entry in FORMATS:
        if entry.recognises(source):
            return entry
    message, hint = what_it_seems(source)
    raise source.error(message, hint=hint)
