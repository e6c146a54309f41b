"""Kernels, which are timed: the built-in ones by name, and the user's own from `module:name`.

A kernel resembles one iteration of the application on one device, without its communication
(section 3.1.4 and A.2 of [Cla14]_): `initialize` allocates memory as the application does, and
`execute` may be called any number of times.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol

from evener.errors import UsageError
from evener.wording import meant


class Kernel(Protocol):
    """A computation of `d` units, prepared once and executed many times."""

    def complexity(self, d: int) -> float:
        """Return the arithmetic operations of one execution at `d` units [flop]."""

    def initialize(self, d: int) -> None:
        """Allocate and fill the memory of `d` units."""

    def execute(self) -> None:
        """Compute all `d` units once; return when this is complete."""

    def finalize(self) -> None:
        """Release the memory."""


@dataclass(frozen=True)
class KernelEntry:
    """A built-in kernel: the meaning of a unit, its purpose, and its class by kind of device."""

    unit: str
    purpose: str
    homes: Mapping[str, str]
    takes: tuple[str, ...] = ()  # options in addition to those of every kernel
    takes_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by kind of device


CPU, CUDA = "evener.measuring.cpu", "evener.measuring.cuda"

KERNELS: dict[str, KernelEntry] = {
    "spmv": KernelEntry(
        "row",
        "y = A x, A a sparse matrix in CSR",
        {"cpu": f"{CPU}:Spmv", "cuda": f"{CUDA}:CudaSpmv"},
        ("matrix", "degree"),
    ),
    "jacobi": KernelEntry(
        "row",
        "a Jacobi sweep, x = (b - R x) / D",
        {"cpu": f"{CPU}:Jacobi", "cuda": f"{CUDA}:CudaJacobi"},
        ("matrix", "degree"),
    ),
    "pagerank": KernelEntry(
        "row",
        "a PageRank step with its change, columns drawn as in a power-law graph",
        {"cpu": f"{CPU}:Pagerank", "cuda": f"{CUDA}:CudaPagerank"},
        ("matrix", "degree"),
    ),
    "axpy": KernelEntry(
        "element", "y = y + a x", {"cpu": f"{CPU}:Axpy", "cuda": f"{CUDA}:CudaAxpy"}
    ),
    "triad": KernelEntry(
        "element", "z = x + a y", {"cpu": f"{CPU}:Triad", "cuda": f"{CUDA}:CudaTriad"}
    ),
    "gemm": KernelEntry(
        "block of b x b",
        "C = C + A B, A a column and B a row of blocks",
        {"cpu": f"{CPU}:Gemm", "cuda": f"{CUDA}:CudaGemm"},
        ("block", "width"),
        {"cuda": ("blas",)},
    ),
    "gemm-streamed": KernelEntry(
        "block of b x b",
        "gemm for C larger than the GPU's memory: strips of C are sent there and back",
        {"cuda": "evener.measuring.cuda_streamed:CudaGemmStreamed"},
        ("block", "width"),
        {"cuda": ("blas", "room")},
    ),
}  # fmt: skip


OF_KIND = {"cuda": ("index", "transfers")}  # options of every kernel on such devices


class FunctionKernel:
    """A kernel made from one function, which prepares `d` units and returns the function to time.

    One unit counts as one operation.
    """

    def __init__(self, prepare: Callable[[int], Callable[[], Any]]) -> None:
        self._prepare = prepare
        self._run: Callable[[], Any] | None = None

    def complexity(self, d: int) -> float:
        """Return `d`, as nothing else is known."""
        return float(d)

    def initialize(self, d: int) -> None:
        """Call the function. Raises TypeError unless it returns a callable."""
        run: Any = self._prepare(d)
        if not callable(run):
            name = getattr(self._prepare, "__name__", "the function")
            raise TypeError(f"{name}({d}) returned {type(run).__name__}, not a function to time")
        self._run = run

    def execute(self) -> None:
        """Call the function that was returned."""
        assert self._run is not None, "call initialize first"
        self._run()

    def finalize(self) -> None:
        """Forget the function that was returned."""
        self._run = None


def unit_of(name: str) -> str:
    """Return the meaning of a unit of the kernel's load."""
    return KERNELS[name].unit if name in KERNELS else "unit"


def make_kernel(name: str, kind: str = "cpu", options: Mapping[str, Any] | None = None) -> Kernel:
    """Return a kernel for a device of this kind.

    name: a key of KERNELS; or "module:name", which names a class with the four methods (created
    without arguments), an object that has them, or a function for FunctionKernel. options: of the
    kernel; options that it does not have are ignored. If they contain "width", a unit is a row of
    this width, so that d units are a rectangle of height d: a class is created with the width, a
    function is called with height and width. Raises UsageError if the kernel does not exist or
    cannot be made.
    """
    width = (options or {}).get("width")
    if name not in KERNELS:
        return _users_own(name, width)
    if width is not None and "width" not in KERNELS[name].takes:
        raise UsageError(
            f"kernel {name} does not compute rectangles", hint="Use gemm or a kernel of your own."
        )
    offer = KERNELS[name]
    if kind not in offer.homes:
        kinds = " and ".join(offer.homes)
        raise UsageError(f"kernel {name} runs on {kinds} devices, not on {kind}")
    module, _, attribute = offer.homes[kind].partition(":")
    takes = (*offer.takes, *offer.takes_on.get(kind, ()), *OF_KIND.get(kind, ()))
    known = {key: value for key, value in (options or {}).items() if key in takes}
    kernel: Kernel = getattr(importlib.import_module(module), attribute)(**known)
    return kernel


def refuse_options(name: str, kind: str, given: Iterable[str]) -> None:
    """Raise UsageError for an option that the kernel does not have on devices of this kind."""
    entry = KERNELS.get(name)
    takes: tuple[str, ...] = ()
    if entry is not None:
        takes = (*entry.takes, *entry.takes_on.get(kind, ()), *OF_KIND.get(kind, ()))
    for option in given:
        if option not in takes:
            known = (
                f"It takes {', '.join(takes)}." if takes else "Your own kernels take no options."
            )
            raise UsageError(
                f"kernel {name} takes no option {option!r} on {kind} devices", hint=known
            )


def blas_of(name: str, kinds: Iterable[str]) -> dict[str, str]:
    """Return the option for the product on GPUs: cuBLAS if CuPy is installed, otherwise tiles.

    Returns no option if the kernel does not have it on these kinds of devices.
    """
    entry = KERNELS.get(name)
    if entry is None or not any("blas" in entry.takes_on.get(kind, ()) for kind in kinds):
        return {}
    return {"blas": "cublas" if find_spec("cupy") is not None else "tiles"}


def _users_own(name: str, width: int | None) -> Kernel:
    module_name, colon, attribute = name.partition(":")
    if not (colon and module_name and attribute):
        raise UsageError(
            f"there is no kernel {name!r}{meant(name, KERNELS)}",
            hint=f"Kernels: {', '.join(KERNELS)}, or your own as module:name.",
        )
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (Exception, SystemExit) as error:  # the user's module may raise anything on import
        raise UsageError(
            f"kernel {name} cannot be imported: {type(error).__name__}: {error}",
            hint="Python searches modules in the current folder and in PYTHONPATH.",
        ) from error
    if isinstance(found, type):
        kernel = found() if width is None else found(width=width)
    elif width is None:
        kernel = found
    elif callable(found):
        return FunctionKernel(functools.partial(found, width=width))
    else:
        raise UsageError(f"kernel {name} is an object, which takes no width")
    missing = [key for key in ("initialize", "execute", "finalize") if not hasattr(kernel, key)]
    if len(missing) == 3 and callable(kernel):
        return FunctionKernel(kernel)
    if missing or not hasattr(kernel, "complexity"):
        lacks = ", ".join([*missing, *([] if hasattr(kernel, "complexity") else ["complexity"])])
        raise UsageError(
            f"kernel {name} lacks {lacks}",
            hint="A kernel has complexity(d), initialize(d), execute() and finalize().",
        )
    checked: Kernel = kernel
    return checked
