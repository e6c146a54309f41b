"""Checkpoints: folders from which an interrupted run is continued, on any devices.

Each device writes a file with the values of its own vertices; then the first device replaces
checkpoint.json, which names the files of one superstep. Therefore the folder contains one complete
checkpoint whenever the run is interrupted. The files of earlier checkpoints are removed afterwards.
The first device locks the folder during the run, because two runs would remove each other's files.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from evener.errors import InputError, UsageError
from evener.files.abandoned import FILE_PREFIX, locked
from evener.files.opening import read_bytes
from evener.files.writing import atomic_write, refusal, write_text
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.io.archives import Arrays, damage_refused, read_arrays, write_arrays
from evener.io.json_text import loads
from evener.running.comm import Comm
from evener.running.engine.generating import digest_of
from evener.running.engine.program import Solver, VertexProgram
from evener.running.engine.recording import StepRecorder
from evener.running.engine.states import RunState
from evener.running.engine.supersteps import Keep
from evener.running.local_graphs import LocalGraph

INDEX_FILE, FORMAT, FORMAT_VERSION = "checkpoint.json", "evener checkpoint", 1
PATTERN = "step-*.npz"
LOCK = f"{FILE_PREFIX}run"  # the file in the folder that a run locks
MOST_SHARE = 0.1  # largest share of a run's time for writing, if the interval is given in seconds
MOST_AHEAD = 1000  # largest number of supersteps until the clock is read again
_NAMES = ("token", "owned", "values", "payloads", "active")
_HINT = "Start a new run without --resume."


@dataclass
class Checkpoints:
    """Where and how often a run is saved, and how long that took on the first device.

    steps: number of supersteps between checkpoints. seconds: time between checkpoints [s], longer
    if writing would otherwise take more than MOST_SHARE of the run's time. identity: the result of
    `identity_of`. written, took [s]: number of checkpoints, and time spent on them.
    """

    folder: Path
    steps: int | None = None
    seconds: float | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    written: int = 0
    took: float = 0.0  # [s]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A state read from a folder, and the identity of the run that wrote it."""

    folder: Path
    state: RunState
    identity: Mapping[str, Any]

    def check(self, identity: Mapping[str, Any]) -> None:
        """Raise InputError unless the checkpoint has the same program, parameters and graph."""
        for name, value in identity.items():
            found = self.identity.get(name)
            if found != value:
                said = f"{found} there, {value} here"
                what = {"program": "program", "parameters": "parameters", "n": "number of vertices"}
                shown = f": {what[name]}, {said}" if name in what else _OTHER[name]
                raise InputError(
                    f"is a checkpoint of another run{shown}", file=self.folder, hint=_HINT
                )


_OTHER = {
    "code": ": the program's code, or the version of Python or Evener, differs",
    "graph": ": the graph's arcs or weights differ",
}


def identity_of(
    program: VertexProgram, parameters: Mapping[str, float], graph: Graph | DirectedGraph
) -> dict[str, Any]:
    """Return the properties that must be equal for one run to continue another one."""
    arcs = graph.arcs_out()
    digest = hashlib.blake2b(digest_size=16)
    weights = arcs.adjwgt if program.is_weighted else None
    for array, kind in ((arcs.xadj, "<i8"), (arcs.adjncy, "<i8"), (weights, None)):
        if array is not None:
            digest.update(np.ascontiguousarray(array, kind or array.dtype).data)
    return {
        "program": program.name,
        "parameters": list(program.given(parameters)),
        "code": digest_of(program),
        "n": graph.n,
        "graph": digest.hexdigest(),
    }


class CheckpointWriter:
    """Writes one device's part of each checkpoint; all devices create and call it together.

    It is a context manager that locks the folder until the block ends. Raises InputError if another
    run writes to this folder.
    """

    def __init__(self, comm: Comm, local: LocalGraph, asked: Checkpoints, first: int = 0) -> None:
        self.comm, self.local, self.asked = comm, local, asked
        self._token = comm.bcast(secrets.token_hex(8) if comm.rank == 0 else "")
        self._first, self._next = first, first + 1
        self._began = self._ended = time.perf_counter()
        self._last = 0.0  # seconds of the last checkpoint
        self._lock: int | None = None
        if comm.rank == 0:
            self._lock = _held(asked.folder)
        comm.barrier()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            os.close(self._lock)

    def __call__(self, step: int, take: Callable[[], RunState]) -> None:
        """Write what take() returns if a checkpoint is due after this superstep."""
        if not self._is_due(step):
            return
        began = time.perf_counter()
        state, rank = take(), self.comm.rank
        narrow = np.uint32 if self.local.n_global < 2**32 else np.int64
        arrays: Arrays = {
            "token": np.array(f"{self._token} {step} {rank}"),
            "owned": self.local.owned.astype(narrow),
            "values": state.values,
        }
        if state.payloads is not None:
            arrays["payloads"] = state.payloads
        if state.active is not None:
            arrays["active"] = np.packbits(state.active)
        with atomic_write(self.asked.folder / _file(step, rank)) as file:
            write_arrays(file, arrays, level=0)
        self.comm.barrier()  # all parts are written
        if rank == 0:
            self._commit(step, state)
        self.comm.barrier()  # no new part is written while older files are removed
        self._ended = time.perf_counter()
        self._last = self._ended - began
        if rank == 0:
            self.asked.written += 1
            self.asked.took += self._last

    def _is_due(self, step: int) -> bool:
        if self.asked.steps is not None:
            return step % self.asked.steps == 0
        if step < self._next:
            return False
        due, ahead = self.comm.bcast(self._planned(step) if self.comm.rank == 0 else (False, 1))
        self._next = step + ahead
        return bool(due)

    def _planned(self, step: int) -> tuple[bool, int]:
        """Return whether a checkpoint is due, and the number of supersteps until the next check."""
        now = time.perf_counter()
        pause = max(self.asked.seconds or 0.0, self._last * (1 / MOST_SHARE - 1))
        left = self._ended + pause - now
        if left <= 0:
            return True, 1
        seconds = (now - self._began) / (step - self._first)  # per superstep
        return False, max(1, min(MOST_AHEAD, int(left / 2 / max(seconds, 1e-9))))

    def _commit(self, step: int, state: RunState) -> None:
        """Make this the folder's current checkpoint, and remove the files of other checkpoints."""
        files = [_file(step, rank) for rank in range(self.comm.size)]
        index = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "token": self._token,
            "step": step,
            "files": files,
            "numbers": dict(state.numbers),
            "identity": dict(self.asked.identity),
        }
        write_text(self.asked.folder / INDEX_FILE, json.dumps(index, indent=1) + "\n")
        for path in self.asked.folder.glob(PATTERN):
            if path.name not in files:
                path.unlink(missing_ok=True)


def read_checkpoint(folder: str | Path) -> Checkpoint:
    """Read the checkpoint in a folder.

    Raises InputError if there is no checkpoint, or if it is damaged.
    """
    folder = Path(folder)
    path = folder / INDEX_FILE
    if not path.exists():
        raise InputError("contains no checkpoint", file=folder, hint=_HINT)
    with damage_refused(path, "a checkpoint", _HINT):
        index = loads(read_bytes(path), finite=True)
        if index["format"] != FORMAT:
            raise InputError("does not describe a checkpoint", hint=_HINT)
        if index["format_version"] > FORMAT_VERSION:
            raise InputError("has a newer version of this format", hint="Update evener.")
        step, files = int(index["step"]), [str(name) for name in index["files"]]
        seen = np.zeros(int(index["identity"]["n"]), bool)
    whole: Arrays = {}
    for rank, name in enumerate(files):
        file = folder / _file(step, rank)
        with damage_refused(file, "a checkpoint", _HINT):
            if name != file.name:
                raise InputError("is not the file that checkpoint.json names", hint=_HINT)
            _add(
                whole,
                seen,
                read_arrays(read_bytes(file), _NAMES),
                f"{index['token']} {step} {rank}",
            )
    with damage_refused(path, "a checkpoint", _HINT):
        if not seen.all():
            raise InputError("names files that do not contain all vertices", hint=_HINT)
        numbers = {str(key): int(value) for key, value in index["numbers"].items()}
        state = RunState(step, numbers=numbers, **whole)
        return Checkpoint(folder, state, dict(index["identity"]))


def _add(whole: Arrays, seen: Any, arrays: Arrays, token: str) -> None:
    """Copy the arrays of one device's file into the arrays of all vertices.

    Raises InputError if the file's token is not `token`.
    """
    if str(arrays["token"]) != token:
        raise InputError("belongs to another checkpoint", hint=_HINT)
    owned = arrays["owned"]
    seen[owned] = True
    if "active" in arrays:
        arrays["active"] = np.unpackbits(arrays["active"], count=owned.size)
    for name in _NAMES[2:]:
        if name in arrays:
            target = whole.setdefault(name, np.empty(seen.size, arrays[name].dtype))
            target[owned] = arrays[name]


def _file(step: int, rank: int) -> str:
    return f"step-{step}-device-{rank}.npz"


def _held(folder: Path) -> int | None:
    """Create and lock the folder; return the open lock, or None if the file system has no locks.

    Raises InputError if another run writes to the folder, or if it contains other files.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in folder.iterdir() if not path.name.startswith(FILE_PREFIX)}
        names -= {INDEX_FILE, *(path.name for path in folder.glob(PATTERN))}
        if not names:
            (folder / LOCK).touch()
    except OSError as error:
        raise refusal(error, folder) from error
    if names:
        raise InputError(
            f"contains files that are not checkpoints, such as {min(names)}", file=folder
        )
    try:
        with suppress(BlockingIOError):
            return locked(folder / LOCK)
    except OSError:
        return None
    raise InputError(
        "another run writes its checkpoints to this folder",
        file=folder,
        hint="Give each run its own folder.",
    )


def identify(
    program: VertexProgram | Solver,
    graph: Graph | DirectedGraph,
    asked: Checkpoints | None,
    resume: Checkpoint | None,
    parameters: Mapping[str, float],
) -> None:
    """Check that the resumed checkpoint belongs to this run, and set the identity of later ones.

    asked: where the run is saved. Raises UsageError for solvers, InputError if the checkpoint
    belongs to another run.
    """
    if asked is None and resume is None:
        return
    if isinstance(program, Solver):
        raise UsageError(f"{program.name} has no checkpoints: only vertex programs have them")
    identity = identity_of(program, parameters, graph)
    if resume is not None:
        resume.check(identity)
    if asked is not None:
        asked.identity = identity


def start_of(resume: Checkpoint | None, local: LocalGraph) -> RunState | None:
    """Return the start state of a device's own vertices, or None if the run does not resume."""
    return None if resume is None else resume.state.of(local.owned)


def writing(
    asked: Checkpoints | None, comm: Comm, local: LocalGraph, start: RunState | None
) -> AbstractContextManager[CheckpointWriter | None]:
    """Return a context manager that yields the CheckpointWriter, or None without checkpoints.

    All devices call this.
    """
    if asked is None:
        return nullcontext()
    return CheckpointWriter(comm, local, asked, 0 if start is None else start.step)


def keeping(writer: CheckpointWriter) -> Keep:
    """Return a Keep that writes checkpoints after supersteps and never stops the run."""

    def keep(step: int, take: Callable[[], RunState], _: StepRecorder) -> int:
        writer(step, take)
        return 1

    return keep
