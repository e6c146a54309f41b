"""Starts, restarts and ends the process of a device, and exchanges messages with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from evener.errors import EvenerError, InputError, ToolError, UsageError
from evener.measuring.messages import Inbox, as_line
from evener.measuring.outcomes import Precision

STARTING = 120.0  # seconds in which a process must be ready: a user's module may import much
TAIL_BYTES = 2000  # of the kernel's output, for error messages
# One thread per core: otherwise BLAS uses all cores for one device.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
           "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS")  # fmt: skip
# Variables that tell an MPI process its rank: its children must not inherit them.
OF_MPI = ("PMI_", "PMIX_", "OMPI_", "MPI_", "HYDRA_", "HYDI_", "MPICH_")

_lock = threading.Lock()
_running: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True)
class KernelJob:
    """The kernel that a device's process runs, and its limits.

    cpus: the cores to which the process is bound; empty: not bound. memory [B]: limit of the
    kernel's allocations; None: no limit. options: arguments of the kernel.
    """

    kernel: str
    kind: str = "cpu"
    cpus: tuple[int, ...] = ()
    memory: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


class Worker:
    """The process of one device; it is started at its first use, and again after it has ended.

    program: the module that it runs, which exchanges the same messages as evener.measuring.child.
    """

    program = "evener.measuring.child"

    def __init__(self, name: str, job: KernelJob) -> None:
        self.name, self.job = name, job
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self._lifeline = -1
        self._inbox: Inbox | None = None
        self._is_ready = False

    @property
    def fileno(self) -> int:
        """The file descriptor of the pipe from which messages are read."""
        assert self._process is not None and self._process.stdout is not None
        return self._process.stdout.fileno()

    def ensure(self) -> None:
        """Start the process unless it is running, and wait until it is ready.

        Raises UsageError or InputError if its kernel cannot be made, ToolError if the process ends,
        or is not ready within STARTING seconds.
        """
        self.launch()
        if self._is_ready:
            return
        try:
            self._greet()
        except BaseException:
            self.end()
            raise
        self._is_ready = True

    def launch(self) -> None:
        """Start the process unless it is running; do not wait until it is ready."""
        if self._process is not None and self._process.poll() is None:
            return
        self.end()
        self._start()
        self.send(asdict(self.job))

    def _greet(self) -> None:
        message = self._first_message()
        if message is None:
            raise ToolError(
                f"the process of device {self.name} {self.death()} before it was ready",
                hint=f"Its last output: {self.last_words() or 'none'}",
            )
        if message["event"] == "unusable":
            kinds = {"UsageError": UsageError, "InputError": InputError}
            kind: type[EvenerError] = kinds.get(message["error"], ToolError)
            raise kind(message["message"], hint=message["hint"])

    def measure(self, load: int, precision: Precision) -> None:
        """Ask for the measurement of a load; `receive` returns the answers."""
        self.send({"load": load, "precision": asdict(precision)})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message. No error if the process has ended: `receive` then raises EOFError."""
        assert self._process is not None and self._process.stdin is not None
        with suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(as_line(message))
            self._process.stdin.flush()

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """Return the next message, or None if none arrives within `seconds`.

        Raises EOFError if the process has ended and all its messages have been read.
        """
        assert self._inbox is not None
        return self._inbox.receive(seconds)

    @property
    def has_message(self) -> bool:
        """Whether `receive` would return a message immediately."""
        return self._inbox is not None and self._inbox.has_message

    def death(self) -> str:
        """Return how the process ended, as text; kill it if it is still running."""
        assert self._process is not None
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self.kill()
            return "did not answer"
        if code >= 0:
            return f"ended with code {code}"
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"

    def last_words(self) -> str:
        """Return the end of the kernel's output as one line."""
        if self._output is None:
            return ""
        self._output.seek(max(0, os.fstat(self._output.fileno()).st_size - TAIL_BYTES))
        lines = self._output.read().decode(errors="replace").splitlines()
        return " | ".join(" ".join(line.split()) for line in lines if line.strip())[-300:]

    def kill(self) -> None:
        """Kill the process and all its children."""
        if self._process is not None:
            _kill(self._process)

    def end(self) -> None:
        """Kill the process and release its pipes and files."""
        if self._process is None:
            return
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        with _lock:
            _running.discard(self._process)
        os.close(self._lifeline)
        if self._output is not None:
            self._output.close()
        self._process, self._output, self._inbox = None, None, None
        self._is_ready = False

    def _first_message(self) -> dict[str, Any] | None:
        try:
            return self.receive(STARTING)
        except EOFError:
            return None

    def _start(self) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        reader, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", self.program, str(reader)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._output,
                env=environment(self.job),
                pass_fds=(reader,),
                start_new_session=True,
            )
        finally:
            os.close(reader)
        self._inbox = Inbox(self.fileno)
        with _lock:
            _running.add(self._process)


def environment(job: KernelJob) -> dict[str, str]:
    """Return a process's environment: a thread for each of its cores, no variables of MPI."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(OF_MPI)}
    return kept | dict.fromkeys(THREADS, str(max(len(job.cpus), 1)))


def end_all() -> None:
    """Kill the processes of all devices, before the program exits."""
    with _lock:
        running = list(_running)
    for process in running:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
