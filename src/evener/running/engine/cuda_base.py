"""CudaEngine: runs a vertex program on a CUDA device like Engine; base class of its schedules.

The part of the graph, values and work arrays stay in the device's memory. Values that are sent to
other devices or come from them, those of boundary vertices and of ghosts, are copied through pinned
memory of this computer; both are ranges of local numbers, so each is one copy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from evener.running.engine import generating
from evener.running.engine.atomics_kernels import CONTROL_SIZE, DIRECTION, ENDED, SHARED, STEP
from evener.running.engine.device_cuda_kernels import TARGET, CudaDevice
from evener.running.engine.engine import arcs_for
from evener.running.engine.program import VertexProgram
from evener.running.engine.step_counts import StepCounts
from evener.running.engine.work import ArcsOf, LocalSizes, Vertices
from evener.running.local_graphs import LocalGraph

Numbers = npt.NDArray[Any]
Marked = tuple[Numbers, Numbers]


class CudaEngine(StepCounts):
    """A program on one device's part of a graph: base class of the schedules.

    It has the attributes and methods of Engine, with the same meaning, so that SuperstepLoop runs
    both kinds of devices together. `control` is in the computer's memory. One thread must create
    and use the engine, as for CudaDevice. Raises InputError as Engine does.
    """

    def __init__(
        self,
        program: VertexProgram,
        local: LocalGraph,
        device: CudaDevice,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        self.program, self.device = program, device
        self.parameters = program.given(parameters or {}) or (0,)
        out, into = arcs_for(program, local)
        is_directed = out is not into
        self.sizes = LocalSizes(
            local.n_global, local.n_owned, local.n_local, local.n_interior, is_directed
        )
        self.out = ArcsOf(*map(device.put, out))
        self.into = ArcsOf(*map(device.put, into)) if is_directed else self.out
        self.vertices = Vertices(device.put(local.numbers), device.put(local.degrees))
        self.control = np.zeros(CONTROL_SIZE, np.int64)
        self.control[[STEP, DIRECTION]] = -1
        self.control[SHARED] = int(local.k > 1)
        self.kernels = generating.module_of(program, TARGET)
        self._values = device.empty(local.n_local, program.dtype)
        self._values_here = device.pinned(local.n_local, program.dtype)
        most = max((numbers.size for numbers in local.sends.values()), default=0)
        self._places, self._targets = (device.pair(n, np.uint32) for n in (local.n_ghosts, most))
        self._sent, self._received = (device.pair(n, program.dtype) for n in (local.n_ghosts, most))
        self._make_work(out, into)
        self._is_compiled = False
        self._repeats: dict[str, Callable[[], None]] = {}  # by name, see _repeated

    def compile(self) -> None:
        """Compile the kernels, by launching them for no vertex, and record launches; only once."""
        if self._is_compiled:
            return
        sizes, self.sizes = self.sizes, LocalSizes(0, 0, 0, 0, self.sizes.is_directed)
        try:
            self._play_all()
            self.device.wait()
        except Exception as error:
            if not generating.is_compile_error(error):
                raise
            raise generating.compile_error(self.program, error, 1) from error
        finally:
            self.sizes = sizes
        self._repeats = {
            name: self.device.recorded(work) for name, work in self._repeated().items()
        }
        self._is_compiled = True

    def advance(self, most: int) -> None:
        """Compute up to `most` further supersteps; initial values first if there are none yet."""
        control = self.control
        if control[STEP] < 0:
            self.compile()
            self._begin()
            control[STEP] = 0
        for _ in range(most):
            if control[ENDED] and self._ends_empty and not control[SHARED]:
                break
            self._superstep()
            control[STEP] += 1
            if control[ENDED] and not control[SHARED]:
                break
        self.device.wait()

    def take_marked(self) -> Marked:
        """Return local numbers and values of the ghosts that changed since the last call."""
        (places, places_here), (sent, sent_here) = self._places, self._sent
        n_ghosts = self.sizes.n_ghosts
        count = self._collect(n_ghosts, places, sent) if n_ghosts else 0
        self.device.fetch(places, places_here, 0, count)
        self.device.fetch(sent, sent_here, 0, count)
        self.device.wait()
        return places_here[:count], sent_here[:count]

    def deliver(self, targets: Numbers, received: Numbers) -> None:
        """Join the results of take_marked on other devices with own vertices."""
        count = targets.size
        (there, here), (values_there, values_here) = self._targets, self._received
        here[:count], values_here[:count] = targets, received
        self.device.send(here, there, 0, count)
        self.device.send(values_here, values_there, 0, count)
        if count:
            self._receive(count, there, values_there)

    @property
    def values(self) -> Numbers:
        """Values (n_local,) of own vertices and ghosts, all copied to this computer."""
        values: Numbers = self._values_here
        self.device.fetch(self._values, values)
        self.device.wait()
        return values

    _ends_empty: ClassVar[bool] = False  # whether no superstep follows where none is needed

    @abstractmethod
    def _make_work(self, out: ArcsOf, into: ArcsOf) -> None:
        """Create the schedule's arrays."""

    @abstractmethod
    def _begin(self) -> None:
        """Compute the initial values."""

    @abstractmethod
    def _superstep(self) -> None:
        """Compute one superstep."""

    @abstractmethod
    def _repeated(self) -> Mapping[str, Callable[[], None]]:
        """Return sequences of launches, and of copies to this computer, that shall be recorded."""

    @abstractmethod
    def _play_all(self) -> None:
        """Launch each kernel with sizes of 0, for which it does nothing."""

    def _collect(self, n_ghosts: int, places: Any, sent: Any) -> int:
        """Store local numbers and values of the ghosts that changed; return their number."""
        raise NotImplementedError

    def _receive(self, count: int, targets: Any, received: Any) -> None:
        """Apply values that other devices sent for own vertices."""
        raise NotImplementedError

    def _boundary_here(self, there: Any, here: Numbers) -> Numbers:
        """Copy the entries of boundary vertices of an array to this computer."""
        self.device.fetch(there, here, self.sizes.n_interior, self.sizes.n_owned)
        self.device.wait()
        return here

    def _ghosts_there(self, here: Numbers, there: Any) -> None:
        """Copy the entries of ghosts of an array to the device."""
        self.device.send(here, there, self.sizes.n_owned, self.sizes.n_local)

    def _launch(self, name: str, threads: int, *arguments: Any) -> None:
        self.device.launch(getattr(self.kernels, name), threads, *arguments)
