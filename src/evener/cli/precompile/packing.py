"""Write a pack: the machine code of kernels from this computer's files, in one file.

machine_code/packs.py describes the format of a pack. Kernels are read from this computer's own
files; those that processes found in another pack are read from that pack.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from evener.errors import InputError, UsageError
from evener.files.writing import atomic_write
from evener.machine_code.packs import MAGIC, SUFFIX, Made, Pack, PackedKernel, digest

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
        raise InputError("is no folder", file=folder, hint="Make it first.")
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
            f"a pack is for one processor and one version of Numba, not {len(kinds)}",
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
