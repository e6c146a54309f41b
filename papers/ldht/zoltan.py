"""Zoltan's geometric partitioners RCB, RIB and HSFC [BCCD12]_, through ctypes.

Debian has it as libtrilinos-zoltan. Zoltan is a library for MPI programs: the child process is one
of a single rank, which holds all points. Targets are given as part sizes; weights are its floats
of 32 bits.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import subprocess
import sys
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_float, c_int, c_uint, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import Call, Job, address, load_library
from papers.children import let_children_import_papers

NAMES = ("libtrilinos_zoltan.so.13.2", "libtrilinos_zoltan.so", "libzoltan.so", "libzoltan.dylib")
HOW = "apt install libtrilinos-zoltan-dev"
METHODS = {"zoltan-rcb": "RCB", "zoltan-rib": "RIB", "zoltan-hsfc": "HSFC"}
# ZOLTAN_NUM_OBJ_FN_TYPE, ... of zoltan.h: the numbers of an enumeration.
OK, WARN = 0, 1
MPICH_WORLD = 0x44000000  # MPI_COMM_WORLD where it is a number

Ids = POINTER(c_uint)
NumberFn = CFUNCTYPE(c_int, c_void_p, POINTER(c_int))
ListFn = CFUNCTYPE(None, c_void_p, c_int, c_int, Ids, Ids, c_int, POINTER(c_float), POINTER(c_int))
PlacesFn = CFUNCTYPE(
    None, c_void_p, c_int, c_int, c_int, Ids, Ids, c_int, POINTER(c_double), POINTER(c_int)
)


@cache
def library() -> ctypes.CDLL | None:
    """Load and return libzoltan, or None where there is none."""
    found = (ctypes.util.find_library("trilinos_zoltan"), ctypes.util.find_library("zoltan"))
    return load_library((*NAMES, *found), ctypes.RTLD_GLOBAL)


def missing() -> str | None:
    """Return None where libzoltan can be loaded, else how to get it."""
    return None if is_loadable() else HOW


@cache
def is_loadable() -> bool:
    """Return whether a process can load libzoltan, tried in one that ends.

    It brings an MPI with it, which mpi4py of this process would take for its own.
    """
    code = f"import sys; from {__name__} import library; sys.exit(library() is None)"
    let_children_import_papers()
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=False)
    return done.returncode == 0


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return Zoltan made ready: MPI begun, points and part sizes given."""
    zoltan = library()
    if zoltan is None:
        raise OSError(HOW)
    assert job.points is not None
    problem = _Problem(zoltan, np.ascontiguousarray(job.points, np.float64), job.vwgt)
    shares = np.asarray(job.targets / job.targets.sum(), np.float32)
    problem.set("LB_METHOD", METHODS[job.tool])
    problem.set("IMBALANCE_TOL", f"{1 + job.epsilon:.6f}")
    problem.set("NUM_GLOBAL_PARTS", str(job.k))
    problem.sizes(shares)
    return Call(problem.divided, f"zoltan {problem.version:.1f}")


class _Problem:
    """Points (n, d) and their weights (n,) or None, as Zoltan asks for them."""

    def __init__(
        self,
        zoltan: ctypes.CDLL,
        points: npt.NDArray[np.float64],
        weights: npt.NDArray[Any] | None,
    ) -> None:
        self.n, self.d = (int(size) for size in points.shape)
        self._zoltan, self._points = zoltan, points
        self._weights = None if weights is None else np.ascontiguousarray(weights, np.float32)
        number = c_float()
        # Open MPI would start a daemon to spawn further ranks, which there will not be.
        os.environ.setdefault("OMPI_MCA_ess_singleton_isolated", "1")
        _check(zoltan.MPI_Init(None, None), "MPI_Init")
        _check(zoltan.Zoltan_Initialize(0, None, byref(number)), "Zoltan_Initialize")
        self.version = number.value
        zoltan.Zoltan_Create.restype = c_void_p
        self._self = c_void_p(zoltan.Zoltan_Create(_world(zoltan)))
        if not self._self:
            raise MemoryError("Zoltan_Create returned nothing")
        # What Zoltan calls must outlive the call.
        self._asked = (
            ("Zoltan_Set_Num_Obj_Fn", NumberFn(self._count)),
            ("Zoltan_Set_Obj_List_Fn", ListFn(self._list)),
            ("Zoltan_Set_Num_Geom_Fn", NumberFn(self._dimensions)),
            ("Zoltan_Set_Geom_Multi_Fn", PlacesFn(self._places)),
        )
        for name, function in self._asked:
            _check(getattr(zoltan, name)(self._self, function, None), name)
        for name, value in {
            "DEBUG_LEVEL": "0",
            "NUM_GID_ENTRIES": "1",
            "NUM_LID_ENTRIES": "0",
            "OBJ_WEIGHT_DIM": "0" if weights is None else "1",
            "RETURN_LISTS": "PARTS",
        }.items():
            self.set(name, value)

    def set(self, name: str, value: str) -> None:
        """Set a parameter of Zoltan's."""
        code = self._zoltan.Zoltan_Set_Param(
            self._self, c_char_p(name.encode()), c_char_p(value.encode())
        )
        _check(code, f"{name} = {value}")

    def sizes(self, shares: npt.NDArray[np.float32]) -> None:
        """Give the share (k,) of each part."""
        numbers = np.arange(shares.size, dtype=np.int32)
        code = self._zoltan.Zoltan_LB_Set_Part_Sizes(
            self._self, c_int(1), c_int(shares.size), address(numbers), None, address(shares)
        )
        _check(code, "Zoltan_LB_Set_Part_Sizes")

    def divided(self) -> npt.NDArray[np.int32]:
        """Return the part (n,) of every point."""
        changes, gid, lid, n_in, n_out = (c_int() for _ in range(5))
        lists = [c_void_p() for _ in range(8)]
        code = self._zoltan.Zoltan_LB_Partition(
            self._self, byref(changes), byref(gid), byref(lid),
            byref(n_in), *(byref(one) for one in lists[:4]),
            byref(n_out), *(byref(one) for one in lists[4:]),
        )  # fmt: skip
        if code not in (OK, WARN) or n_out.value != self.n:
            raise RuntimeError(f"Zoltan_LB_Partition returned {code}, {n_out.value} points")
        numbers = _array(lists[4], c_uint, self.n)
        part = np.full(self.n, -1, np.int32)
        part[numbers] = _array(lists[7], c_int, self.n)
        return part

    # Zoltan asks; each answer sets the last argument to 0: no error.

    def _count(self, _: Any, code: Any) -> int:
        code[0] = OK
        return self.n

    def _dimensions(self, _: Any, code: Any) -> int:
        code[0] = OK
        return self.d

    def _list(self, *given: Any) -> None:
        numbers, weights, code = given[3], given[6], given[7]
        np.ctypeslib.as_array(numbers, (self.n,))[:] = np.arange(self.n)
        if self._weights is not None:
            np.ctypeslib.as_array(weights, (self.n,))[:] = self._weights
        code[0] = OK

    def _places(self, *given: Any) -> None:
        count, numbers, places, code = given[3], given[4], given[7], given[8]
        chosen = np.ctypeslib.as_array(numbers, (count,))
        np.ctypeslib.as_array(places, (count, self.d))[:] = self._points[chosen]
        code[0] = OK


def _world(zoltan: ctypes.CDLL) -> Any:
    """Return MPI_COMM_WORLD: the address of a structure in Open MPI, a number in MPICH."""
    try:
        return c_void_p(ctypes.addressof(c_int.in_dll(zoltan, "ompi_mpi_comm_world")))
    except ValueError:
        return c_int(MPICH_WORLD)


def _array(pointer: c_void_p, kind: Any, count: int) -> npt.NDArray[Any]:
    return np.ctypeslib.as_array(ctypes.cast(pointer, POINTER(kind)), (count,))


def _check(code: int, what: str) -> None:
    if code not in (OK, WARN):
        raise RuntimeError(f"Zoltan could not: {what} returned {code}")
