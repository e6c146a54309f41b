"""Compile every kernel in advance: `warm` distributes the rehearsals over processes.

Processes write into one cache, each combination of types into a separate file. Such a process is

    python -m evener.cli.precompile.precompile

Each line of its standard input names a rehearsal; each line of its standard output is a JSON list:
the names of the kernels that it compiled, and all kernels that it used, as in
machine_code.cache.USED. The process ends when its input ends.

A pack is one file with the machine code of kernels (machine_code/packs.py), from this computer's
files; kernels that processes found in another pack are read from that pack.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

from evener.cli.precompile.compiler import (
    Compiled,
    cache_place,
    hastened,
    kernels,
    kernels_used,
    watch,
)
from evener.cli.precompile.first import FIRST
from evener.cli.precompile.rehearsals import REHEARSALS
from evener.errors import InputError, ToolError, UsageError
from evener.files.writing import atomic_write
from evener.machine_code.packs import MAGIC, SUFFIX, Made, Pack, PackedKernel, digest


@dataclass(frozen=True)
class Warmed:
    """The result of `warm`.

    compiled: names of the kernels compiled by all processes, one entry for each combination of
    argument types. used: all kernels that were compiled or found, as in machine_code.cache.USED.
    n_kernels: the number of all kernels; for a first plan, of the kernels that it uses. folder,
    place: where the machine code is stored, and what kind of folder that is (see
    compiler.cache_place). seconds: wall time; cpu_seconds: CPU time of all processes.
    """

    compiled: list[str]
    used: Mapping[str, str]
    n_kernels: int
    folder: Path
    place: str
    processes: int
    seconds: float
    cpu_seconds: float


class _Done(NamedTuple):
    """The kernels that rehearsals compiled, and all that they used."""

    compiled: list[str]
    used: dict[str, str]


def warm(
    processes: int = 1,
    progress: Callable[[str, float], None] | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    first: bool = False,
) -> Warmed:
    """Compile all kernels that are not yet in the cache, in this number of processes.

    first: compile only those that the first plan of a mesh needs. settings: environment variables
    of the processes. Raises ToolError if a process ends before its work is done.
    """
    began, cpu_began = time.monotonic(), _cpu_seconds()
    here = processes == 1 and settings is None
    work = _here if here else partial(_in_processes, processes, settings or {})
    done = work(FIRST if first else REHEARSALS, progress or _no_progress)
    folder, place = cache_place(done.used)
    return Warmed(
        done.compiled,
        done.used,
        len({name.rpartition(".")[0] for name in done.used} if first else kernels()),
        folder,
        place,
        processes,
        time.monotonic() - began,
        _cpu_seconds() - cpu_began,
    )


def _here(pieces: Mapping[str, Callable[[], None]], tell: Callable[[str, float], None]) -> _Done:
    """Run rehearsals in this process."""
    compiled = Compiled()
    watch(compiled)
    with hastened():
        for i, (name, rehearse) in enumerate(pieces.items()):
            tell(_how_far(name, i, len(pieces), compiled.names), i / len(pieces))
            rehearse()
    return _Done(compiled.names, kernels_used())


def _in_processes(
    count: int,
    settings: Mapping[str, str],
    pieces: Mapping[str, Callable[[], None]],
    tell: Callable[[str, float], None],
) -> _Done:
    """Run rehearsals, given by name, in `count` processes."""
    waiting, lock, done = list(pieces), threading.Lock(), 0
    begun = 0
    compiled: list[str] = []
    used: dict[str, str] = {}

    def one(_: int) -> None:
        nonlocal begun, done
        with _Worker(settings) as worker:
            while True:
                with lock:
                    if not waiting:
                        return
                    name = waiting.pop(0)
                    tell(_how_far(name, begun, len(pieces), compiled), done / len(pieces))
                    begun += 1
                made = worker.rehearse(name)
                with lock:
                    compiled.extend(made.compiled)
                    used.update(made.used)
                    done += 1

    with ThreadPoolExecutor(count) as pool:
        working = pool.map(one, range(min(count, len(pieces))))
        if pieces is REHEARSALS:
            kernels()  # imports all modules while others compile: `warm` counts kernels at the end
        for _ in working:
            pass
    return _Done(compiled, used)


def _how_far(name: str, begun: int, pieces: int, compiled: list[str]) -> str:
    """Return the name of the next piece, and the number of kernels compiled so far."""
    some = len({kernel for kernel in compiled if kernel})
    return f"{name}, {begun + 1} of {pieces} pieces, {some:,} kernels so far"


class _Worker:
    """A process that runs the rehearsals it is sent, and ends when its standard input closes."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        # -P keeps the working directory out of the child's path: a numpy.py there is not NumPy.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "evener.cli.precompile.precompile"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", **settings},
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def rehearse(self, name: str) -> _Done:
        """Let the process run a rehearsal; return what it compiled."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(name, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            answer = ""
        else:
            answer = self._process.stdout.readline()
        if not answer:
            raise ToolError(
                f"a process that compiled {name!r} ended before it was done",
                hint="Run `evener warm --processes 1` to see why.",
            )
        return _Done(*json.loads(answer))


def _no_progress(step: str, fraction: float) -> None:
    """Show no progress."""


def _cpu_seconds() -> float:
    """CPU time of this process and of its finished child processes [s]."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    """Run a rehearsal for each line of standard input, and print a line of results."""
    compiled = Compiled()
    known = REHEARSALS | FIRST
    watch(compiled)
    with hastened():
        for line in sys.stdin:
            before = len(compiled.names)
            known[line.strip()]()
            print(json.dumps([compiled.names[before:], kernels_used()]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()


COMPRESSION = 19  # zstd's; a third smaller than at 9, in some seconds


class _Kernel(NamedTuple):
    """The content of a kernel's own file."""

    version: str
    stamp: str
    name: str
    magic: tuple[str, str, str]
    data: bytes
    bitcode: bytes


def write_pack(folder: str | Path, used: Mapping[str, str]) -> Path:
    """Write the pack of all kernels that processes used into `folder`; return its path.

    used: like machine_code.cache.USED: names, and the files they are in, own files or packs. Raises
    UsageError if there is no kernel, or if kernels were made for different processors; InputError
    if the folder is missing.
    """
    packs = {path: Pack(Path(path)) for path in set(used.values()) if path.endswith(SUFFIX)}
    kernels = [
        _of_pack(packs[path], name) if path in packs else _of_file(Path(path))
        for name, path in sorted(used.items())
    ]
    made = _made(kernels)
    path = Path(folder) / made.file_name
    if not path.parent.is_dir():
        raise InputError("is not a folder", file=folder, hint="Make it first.")
    with atomic_write(path) as file:
        for part in _parts(made, kernels):
            file.write(part)
    return path


def _of_pack(pack: Pack, name: str) -> _Kernel:
    made, stamp = pack.made, pack.stamp_of(name)
    found = pack.load(name, stamp)
    assert found is not None
    magic = made.system, made.processor, made.features
    return _Kernel(made.numba, stamp, name, magic, bytes(found[0]), found[1]())


def _of_file(path: Path) -> _Kernel:
    with path.open("rb") as file:
        version, stamp, name, magic = pickle.load(file)
        return _Kernel(version, stamp, name, magic, pickle.load(file), file.read())


def _made(kernels: list[_Kernel]) -> Made:
    """Return the processor and versions for which all kernels were made."""
    kinds = {(kernel.version, *kernel.magic) for kernel in kernels}
    if len(kinds) != 1:
        raise UsageError(
            f"a pack holds kernels for one processor and one version of Numba, not {len(kinds)}",
            hint="With EVENER_PACKS=no all kernels are compiled here.",
        )
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    return Made(python, *kinds.pop())


def _parts(made: Made, kernels: list[_Kernel]) -> Iterable[bytes]:
    """Return the parts of the file, in order."""
    import zstandard

    places, begin, bitcode_begin = {}, 0, 0
    for one in kernels:
        size, bitcode_size = len(one.data), len(one.bitcode)
        places[one.name] = PackedKernel(
            one.stamp, begin, size, digest(one.data), bitcode_begin, bitcode_size
        )
        begin, bitcode_begin = begin + size, bitcode_begin + bitcode_size
    bitcode = zstandard.ZstdCompressor(COMPRESSION).compress(b"".join(k.bitcode for k in kernels))
    table = json.dumps(
        {
            "made": made.__dict__,
            "size": begin + len(bitcode),
            "bitcode": (begin, len(bitcode), digest(bitcode)),
            "kernels": places,
        }
    ).encode()
    head = MAGIC + len(table).to_bytes(8, "little") + hashlib.sha256(table).digest()
    return [head, table, *(one.data for one in kernels), bitcode]
