"""Cases for PyFR: meshes as Gmsh writes them, settings, and the environment of its programs."""

import os

VORTEX = """
[backend]
precision = double
collect-wait-times = true
[backend-opencl]
device-id = 0
[constants]
gamma = 1.4
[solver]
system = euler
order = 3
[solver-time-integrator]
scheme = rk45
controller = none
tstart = 0
tend = 0.1
dt = 0.005
[solver-interfaces]
riemann-solver = rusanov
[solver-interfaces-line]
flux-pts = gauss-legendre
[solver-elements-quad]
soln-pts = gauss-legendre
[soln-plugin-writer]
dt-out = 0.1
basedir = .
basename = out-{t:.2f}
[soln-ics]
rho = 1 + 0.2*sin(0.314159265358979324*x)*cos(0.314159265358979324*y)
u = 1 + 0.1*sin(0.314159265358979324*y)
v = 0.5 + 0.1*cos(0.314159265358979324*x)
p = 3
"""
TAYLOR_GREEN = """[backend]
precision = double
[backend-opencl]
device-id = 0
[constants]
gamma = 1.4
mu = 0.00625
Pr = 0.71
[solver]
system = navier-stokes
order = 2
[solver-time-integrator]
scheme = rk45
controller = none
tstart = 0
tend = 0.1
dt = 0.005
[solver-interfaces]
riemann-solver = rusanov
ldg-beta = 0
ldg-tau = 0.1
[solver-interfaces-quad]
flux-pts = gauss-legendre
[solver-elements-hex]
soln-pts = gauss-legendre
[soln-plugin-writer]
dt-out = 0.1
basedir = .
basename = out-{t:.2f}
[soln-ics]
rho = 1
u = 0.1*sin(x)*cos(y)*cos(z)
v = -0.1*cos(x)*sin(y)*cos(z)
w = 0
p = 0.7
"""


def gmsh_square(path, n):
    """Write a square of n x n quadrilaterals, periodic both ways, as PyFR imports it."""
    at = lambda i, j: j * (n + 1) + i + 1  # noqa: E731
    nodes = [f"{at(i, j)} {-10 + 20 * i / n} {-10 + 20 * j / n} 0"
             for j in range(n + 1) for i in range(n + 1)]  # fmt: skip
    cells = [(3, 5, (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)))
             for j in range(n) for i in range(n)]  # fmt: skip
    for group, x in ((1, 0), (2, n)):
        cells += [(1, group, (at(x, j), at(x, j + 1))) for j in range(n)]
        cells += [(1, group + 2, (at(i, x), at(i + 1, x))) for i in range(n)]
    _write_gmsh(path, nodes, cells, 2)


def gmsh_box(path, n):
    """Write a box of n x n x n hexahedra, periodic all ways, as PyFR imports it."""
    at = lambda i, j, k: (k * (n + 1) + j) * (n + 1) + i + 1  # noqa: E731
    side, side_nodes = range(n), range(n + 1)
    nodes = [f"{at(i, j, k)} {' '.join(str(6.283185307179586 * a / n) for a in (i, j, k))}"
             for k in side_nodes for j in side_nodes for i in side_nodes]  # fmt: skip
    ring = ((0, 0), (1, 0), (1, 1), (0, 1))
    cells = [(5, 7, [at(i + a, j + b, k + c) for c in (0, 1) for a, b in ring])
             for k in side for j in side for i in side]  # fmt: skip
    for axis in range(3):
        for end in (0, 1):
            for j in side:
                for i in side:
                    around = [[i + a, j + b] for a, b in ring]
                    for one in around:
                        one.insert(axis, end * n)
                    cells.append((3, 2 * axis + end + 1, [at(*one) for one in around]))
    _write_gmsh(path, nodes, cells, 3)


def _write_gmsh(path, nodes, cells, dimension):
    """Write nodes, and cells (kind, group, corners); the last group is the fluid."""
    rows = [f"{i} {kind} 2 {group} {group} {' '.join(map(str, corners))}"
            for i, (kind, group, corners) in enumerate(cells, 1)]  # fmt: skip
    names = [f"periodic_{axis}_{end}" for axis in range(dimension) for end in "lr"]
    groups = [f'{dimension - 1} {i} "{name}"' for i, name in enumerate(names, 1)]
    groups.append(f'{dimension} {len(names) + 1} "fluid"')
    text = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(groups)), *groups,
            "$EndPhysicalNames", "$Nodes", str(len(nodes)), *nodes, "$EndNodes", "$Elements",
            str(len(rows)), *rows, "$EndElements"]  # fmt: skip
    path.write_text("\n".join(text) + "\n")


def pyfr_environment(python, library, folder):
    """Return the environment in which PyFR of this Python runs on OpenCL by pocl.

    library: of OpenCL; folder: for caches and settings.
    """
    pocl = next(python.parents[1].rglob("libpocl-*.so"))
    (folder / "icd").mkdir()
    (folder / "icd" / "pocl.icd").write_text(str(pocl))
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return clean | {
        "PATH": f"{python.parent}:{os.environ['PATH']}", "OCL_ICD_VENDORS": str(folder / "icd"),
        "PYFR_OPENCL_LIBRARY_PATH": str(library), "POCL_DEVICES": "basic",
        "PYFR_CACHE_DIR": str(folder / "cache"), "POCL_CACHE_DIR": str(folder / "cache"),
        "XDG_CACHE_HOME": str(folder / "cache"), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
