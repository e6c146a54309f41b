"""Small files of every mesh format, written by hand or by meshio, and what they hold."""

import contextlib
import io
import re
import tempfile
from pathlib import Path

import meshio
import numpy as np

SQUARE = """\
NDIME= 2
NELEM= 4  % two triangles, two quads
5 0 1 3 0
5 1 4 3 1
9 1 2 5 4 2
9 3 4 7 6 3
NPOIN= 8
0 0 0
1 0 1
2 0 2
0 1 3
1 1 4
2 1 5
0 2 6
1 2 7
NMARK= 1
MARKER_TAG= wall
MARKER_ELEMS= 1
3 0 1
"""

GMSH_2 = """\
$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
5
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
9 2 0 0
$EndNodes
$Elements
4
1 15 2 7 1 1
2 3 2 5 1 1 2 3 4
3 2 2 6 1 2 9 3
4 1 2 8 1 1 2
$EndElements
"""

GMSH_41 = """\
$MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
1 0 2 0
1 0 0 0 0
1 0 0 0 1 1 0 1 5 0
2 1 0 0 2 1 0 1 -6 0
$EndEntities
$Nodes
2 5 1 9
0 1 0 1
1
0 0 0
2 1 0 4
2
3
4
9
1 0 0
1 1 0
0 1 0
2 0 0
$EndNodes
$Elements
3 3 1 3
0 1 15 1
1 1
2 1 3 1
2 1 2 3 4
2 2 2 1
3 2 9 3
$EndElements
"""

GMSH_40 = """\
$MeshFormat
4 0 8
$EndMeshFormat
$Entities
0 0 2 0
1 0 0 0 1 1 0 1 5 0
2 1 0 0 2 1 0 1 6 0
$EndEntities
$Nodes
2 5
1 2 0 1
1 0 0 0
1 2 0 4
2 1 0 0
3 1 1 0
4 0 1 0
9 2 0 0
$EndNodes
$Elements
2 2
1 2 3 1
1 1 2 3 4
2 2 2 1
2 2 9 3
$EndElements
"""

FORT14 = """\
a small harbour
2 4
1 0.0 0.0 5.0
2 1.0 0.0 6.0
3 1.0 1.0 7.0
4 0.0 1.0 8.5
1 3 1 2 3
2 3 1 3 4
0 = Number of open boundaries
0 = Total number of open boundary nodes
"""

MEDIT = """\
MeshVersionFormatted 2
# a comment
Dimension 3
Vertices 5
0 0 0 1
1 0 0 1
0 1 0 1
0 0 1 1
1 1 1 1
Tetrahedra 2
1 2 3 4 10
2 3 4 5 20
Triangles
1
1 2 3 7
End
"""

MFEM = """\
MFEM mesh v1.0

# a square and a triangle
dimension
2

elements
2
5 3 0 1 2 3
6 2 1 4 2

boundary
1
1 1 0 1

vertices
5
2
0 0
1 0
1 1
0 1
2 0
"""

OBJ = """\
# a strip
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
f 1/1 2/1/3 3//2
f -4 -2 -1
v 2 0 0.5
  v 2 1 0.5
f 2 5 6 \\
 3
"""

DOLFIN = """\
<?xml version="1.0"?>
<dolfin xmlns:dolfin="http://fenicsproject.org">
  <mesh celltype="triangle" dim="2">
    <vertices size="4">
      <vertex index="0" x="0" y="0" />
      <vertex index="2" x="1" y="1" />
      <vertex index="1" x="1" y="0" />
      <vertex index="3" x="0" y="1" />
    </vertices>
    <cells size="2">
      <triangle index="0" v0="0" v1="1" v2="2" />
      <triangle index="1" v0="0" v1="2" v2="3" />
    </cells>
  </mesh>
</dolfin>
"""

METIS = """\
% two triangles, one quad
3
1 2 3
1 3 4
2 5 6 3
"""

SCOTCH = """\
1
2 4 12
1 3 000
3 3 4 5
3 3 5 6
2 1 2
1 1
2 1 2
1 2
"""

FESOM_POINTS = "4\n1 0.0 0.0 1\n2 1.0 0.0 0\n3 1.0 1.0 0\n4 0.0 1.0 1\n"
FESOM_CELLS = "2\n1 2 3\n1 3 4\n"

_HEAD = "FoamFile\n{{\n    version 2.0;\n    format ascii;\n    class {};\n    object {};\n}}\n"
# Two unit cubes side by side: 12 points, 11 faces, one of them inside.
FOAM = {
    "points": _HEAD.format("vectorField", "points")
    + "12\n("
    + "\n".join(f"({x} {y} {z})" for z in (0, 1) for y in (0, 1) for x in (0, 1, 2))
    + ")\n",
    "faces": _HEAD.format("faceList", "faces")
    + "11\n(\n4(1 4 10 7)\n4(0 6 9 3)\n4(0 1 7 6)\n4(3 9 10 4)\n4(0 3 4 1)\n4(6 7 10 9)\n"
    + "4(2 5 11 8)\n4(1 2 8 7)\n4(4 10 11 5)\n4(1 4 5 2)\n4(7 8 11 10)\n)\n",
    "owner": _HEAD.format("labelList", "owner") + "11(0 0 0 0 0 0 1 1 1 1 1)\n// end\n",
    "neighbour": _HEAD.format("labelList", "neighbour") + "/* one */ 1\n(\n1\n)\n",
}


def foam_in_binary(order="<", label=4, scalar=8, *, arch=True):
    """The two cubes as OpenFOAM writes them in binary: bytes by file."""
    sign = {"<": "LSB", ">": "MSB"}[order]
    sizes = f'arch "{sign};label={8 * label};scalar={8 * scalar}";\n' if arch else ""

    def numbers(name):
        body = re.sub(r"FoamFile\s*\{[^}]*\}|//.*|/\*.*\*/", "", FOAM[name])
        return [float(word) for word in re.findall(r"\d+", body)[1:]]

    def listed(values, dtype, width=1):
        values = np.array(values, f"{order}{dtype}")
        return f"{len(values) // width}\n(".encode() + values.tobytes() + b")"

    faces = np.array(numbers("faces")).reshape(-1, 5)[:, 1:]
    offsets = 4 * np.arange(len(faces) + 1)
    integers = f"i{label}"
    content = {
        "points": ("vectorField", listed(numbers("points"), f"f{scalar}", 3)),
        "faces": ("faceCompactList", listed(offsets, integers) + b"\n\n"
                  + listed(faces.ravel(), integers)),
        "owner": ("labelList", listed(numbers("owner"), integers)),
        "neighbour": ("labelList", listed(numbers("neighbour"), integers)),
    }  # fmt: skip
    head = "FoamFile\n{{\nversion 2.0;\nformat binary;\nclass {};\n{}object {};\n}}\n// * //\n"
    return {
        name: head.format(kind, sizes, name).encode() + body + b"\n\n// * //\n"
        for name, (kind, body) in content.items()
    }


# name: content, format, cells, points, edges of the dual and of the nodal graph
TEXTS = {
    "square.su2": (SQUARE, "su2", 4, 8, 3, 11),
    "two.msh": (GMSH_2, "gmsh", 2, 5, 1, 6),
    "four.msh": (GMSH_41, "gmsh", 2, 5, 1, 6),
    "forty.msh": (GMSH_40, "gmsh", 2, 5, 1, 6),
    "harbour.14": (FORT14, "fort14", 2, 4, 1, 5),
    "mfem.mesh": (MFEM, "mfem", 2, 5, 1, 6),
    "two.mesh": (MEDIT, "medit", 2, 5, 1, 9),
    "strip.obj": (OBJ, "obj", 3, 6, 2, 8),
    "two.xml": (DOLFIN, "dolfin", 2, 4, 1, 5),
    "metis.mesh": (METIS, "metis-mesh", 3, 6, 2, 8),
    "sets.msh": (SCOTCH, "scotch-mesh", 2, 4, 1, 5),
}

# meshio's writers and the suffix of each; all hold the two triangles or tetrahedra below.
_FLAT = {
    "a.vtk": "vtk",
    "a.vtu": "vtu",
    "a.inp": "abaqus",
    "a.avs": "avsucd",
    "a.off": "off",
    "a.ply": "ply",
    "a.stl": "stl",
    "a.dat": "tecplot",
    "a.wkt": "wkt",
    "a.vol": "netgen",
    "a.post": "permas",
    "a.bdf": "nastran",
    "a.mdpa": "mdpa",
    "gmsh22.msh": "gmsh22",
    "gmsh41.msh": "gmsh",
    "b.meshb": "medit",
}
_SOLID = {
    "c.b8.ugrid": "ugrid",
    "c.f3grid": "flac3d",
    "c.vtk": "vtk",
    "c.vtu": "vtu",
    "c.inp": "abaqus",
    "c.msh": "ansys",
    "c.bdf": "nastran",
    "c.mdpa": "mdpa",
    "cgmsh.msh": "gmsh",
    "c.meshb": "medit",
}


def _write(mesh: meshio.Mesh, name: str, form: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = Path(folder) / name
        with contextlib.redirect_stderr(io.StringIO()):
            meshio.write(path, mesh, file_format=form)
        return path.read_bytes()


def by_meshio() -> dict[str, tuple[bytes, int]]:
    """Files of two cells each: content and points, by name."""
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    solid = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    triangles = meshio.Mesh(flat, [("triangle", np.array([[0, 1, 2], [0, 2, 3]]))])
    tetrahedra = meshio.Mesh(solid, [("tetra", np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))])
    files = {name: (_write(triangles, name, form), 4) for name, form in _FLAT.items()}
    return files | {name: (_write(tetrahedra, name, form), 5) for name, form in _SOLID.items()}
