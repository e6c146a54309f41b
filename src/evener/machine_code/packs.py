"""Packs: the machine code of many kernels in one file, which is mapped into memory.

A wheel contains a pack in the folder `packs` next to this file, and `evener warm --pack` writes
others into the user's folder, `~/.cache/evener`. The layout of `cp311-numba0.68.1-x86-64-v2.pack`
is

    MAGIC, the length of the table (8 bytes, little-endian), SHA-256 of the table, the table, a body

The table is JSON: what the pack was made for (`Made`), its size, the place in the body of the
bitcode of all kernels (compressed together, because LLVM reads it only when a kernel that calls
another one is compiled), and for each kernel the stamp of its sources, its place in the body, the
digest of these bytes, and its place in the bitcode.

Python and Numba must be those that made the pack. The processor must be the same, or must have all
features of the pack's processor level. A kernel is used only if the digest of its bytes is right.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

LOG = logging.getLogger("evener")
FOLDER = Path(__file__).with_name("packs")
SUFFIX = ".pack"
MAGIC = b"evener pack 1\n"
HEAD = len(MAGIC) + 8 + 32
# Features of a processor level beyond the oldest processors, in LLVM's names.
LEVELS = {"x86-64-v2": ["cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"]}
# Settings of Numba that change machine code, and their values for packs.
SETTINGS = {"BOUNDSCHECK": (None, 0), "DEBUGINFO_DEFAULT": (0,), "OPT": (3,),
            "LOOP_VECTORIZE": (1,), "SLP_VECTORIZE": (0,)}  # fmt: skip
SWITCH = "EVENER_PACKS"  # set to "no": all kernels are compiled here
Magic = tuple[str, str, str]  # system, processor and its features, in Numba's names
Found = tuple[memoryview, Callable[[], bytes], Path]


@dataclass(frozen=True)
class Made:
    """What a pack was made for: Python, such as `cp311`, Numba's version, and `Magic`."""

    python: str
    numba: str
    system: str
    processor: str
    features: str

    @property
    def file_name(self) -> str:
        """The pack's file name, which depends on all fields except the system."""
        told = hashlib.sha256(self.features.encode()).hexdigest()[:8] if self.features else ""
        parts = _prefix(self.python, self.numba), self.processor, told
        return "-".join(filter(None, parts)) + SUFFIX


class PackedKernel(NamedTuple):
    """Where a kernel is in a pack: `size` bytes from `begin`; bitcode at `bitcode_begin`."""

    stamp: str
    begin: int
    size: int
    digest: str
    bitcode_begin: int
    bitcode_size: int


class DamagedPackError(ValueError):
    """A pack is cut short, or its bytes have changed."""


class OthersPackError(ValueError):
    """A pack in the user's folder belongs to another user."""


class Pack:
    """An open pack. Raises OthersPackError if another user owns it, unless it is the wheel's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            found = os.fstat(file.fileno())  # of the open file: the name may now lead to another
            if path.parent != FOLDER and found.st_uid != os.geteuid():
                raise OthersPackError(f"{path} belongs to another user")
            size = found.st_size
            if size < HEAD:
                raise DamagedPackError(f"{path} is cut short")
            self._bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        start = HEAD + int.from_bytes(self._bytes[len(MAGIC) : len(MAGIC) + 8], "little")
        table = self._bytes[HEAD:start]
        is_whole = hashlib.sha256(table).digest() == self._bytes[HEAD - 32 : HEAD]
        if self._bytes[: len(MAGIC)] != MAGIC or not is_whole:
            raise DamagedPackError(f"{path} is damaged")
        told = json.loads(bytes(table))
        if size != start + told["size"]:
            raise DamagedPackError(f"{path} is cut short")
        self.made = Made(**told["made"])
        self._body = self._bytes[start:]
        self._places = {name: PackedKernel(*place) for name, place in told["kernels"].items()}
        begin, count, right = told["bitcode"]
        self._bitcode = PackedKernel("", begin, count, right, 0, 0)

    def stamp_of(self, name: str) -> str:
        """Return the digest of the sources from which a kernel of the pack was made."""
        return self._places[name].stamp

    def load(self, name: str, stamp: str) -> Found | None:
        """Return a kernel's data, a function that returns its bitcode, and the pack's path.

        Returns None if the pack has no such kernel made from these sources. Raises
        DamagedPackError.
        """
        place = self._places.get(name)
        if place is None or place.stamp != stamp:
            return None
        return self._at(place), lambda: self._bitcode_of(place), self.path

    def why_not(self, name: str) -> str:
        """Return why the pack lacks a kernel; "" if its function is in no pack.

        Kernels of users' programs are in no pack: they are always compiled when they are run.
        """
        if name in self._places:
            return "sources of kernels have changed since the pack was made"
        if _function(name) not in self._functions:
            return ""
        return "no kernel in the pack was compiled for these types of arguments"

    @functools.cached_property
    def _functions(self) -> frozenset[str]:
        return frozenset(map(_function, self._places))

    def _at(self, place: PackedKernel) -> memoryview:
        found = self._body[place.begin : place.begin + place.size]
        if digest(found) != place.digest:
            raise DamagedPackError(f"{self.path} is damaged")
        return found

    def _bitcode_of(self, place: PackedKernel) -> bytes:
        return self._all_bitcode[place.bitcode_begin :][: place.bitcode_size]

    @functools.cached_property
    def _all_bitcode(self) -> bytes:
        import zstandard

        return zstandard.ZstdDecompressor().decompress(self._at(self._bitcode))


def _function(name: str) -> str:
    """Return module and name of a kernel's function: the kernel's name without the types."""
    return name.rpartition(".")[0]


def digest(data: bytes | memoryview) -> str:
    """Return the digest of bytes, as stored in a pack's table."""
    return hashlib.sha256(data).hexdigest()[:32]


class _Search:
    """The packs that this process may use, and the reasons why others are not used."""

    def __init__(self, magic: Magic) -> None:
        self.packs: list[Pack] = []
        self.refused = self._refusal(magic)
        self.missed: list[str] = []  # reasons why kernels must be compiled that no pack has

    def load(self, name: str, stamp: str) -> Found | None:
        """Return a kernel from the first pack that has it."""
        for pack in self.packs:
            try:
                found = pack.load(name, stamp)
            except DamagedPackError as error:
                self.packs.remove(pack)
                self.refused = f"{error}: install Evener again"
                return self.load(name, stamp)
            if found is not None:
                return found
        why = self.packs[0].why_not(name) if self.packs else self.refused
        if why:
            self.missed.append(why)
            LOG.debug("compiling %s: %s", name, why)
        return None

    def _refusal(self, magic: Magic) -> str:
        """Open the packs; return why some or all are not used, or "" if nothing is missing."""
        if os.environ.get(SWITCH) == "no":
            return f"{SWITCH}=no"
        if changed := changed_settings():
            return f"NUMBA_{changed[0]} requests other machine code than packs contain"
        here = made_here(magic)
        why = ""
        for path in _paths(here):
            try:
                pack = Pack(path)
            except OthersPackError:
                continue
            except DamagedPackError as error:
                why = why or f"{error}: install Evener again"
            except OSError as error:
                why = why or f"{path} cannot be read: {error.strerror}"
            else:
                if _fits(pack.made, here):
                    self.packs.append(pack)
                else:
                    why = why or f"packs are for processors of the level {pack.made.processor}"
        return why or ("" if self.packs else _others(here))


def load(stamp: str, name: str, magic: Magic) -> Found | None:
    """Return a kernel's data, a function that returns its bitcode, and its pack's path.

    Returns None if no pack has it. stamp: digest of the kernel's sources. name: of the kernel with
    these types. magic: the processor for which Numba compiles.
    """
    return _search(magic).load(name, stamp)


@functools.cache
def _search(magic: Magic) -> _Search:
    found = _Search(magic)
    _searches.append(found)
    return found


_searches: list[_Search] = []


def why_compiled() -> list[str]:
    """Return the reasons why this process compiled kernels although there are packs."""
    return [why for one in _searches for why in one.missed]


def users_folder() -> Path | None:
    """Return the user's folder of packs; None if the user has no home folder."""
    with suppress(RuntimeError):
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evener"
    return None


def made_here(magic: Magic) -> Made:
    """Return what this process compiles for."""
    import numba

    python = f"cp{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    return Made(python, numba.__version__, *magic)


def _paths(here: Made) -> Iterator[Path]:
    """Yield files that may be packs for this Python and Numba, the wheel's first."""
    own = users_folder()
    for folder in [FOLDER, *([] if own is None else [own])]:
        with suppress(OSError):
            yield from sorted(folder.glob(f"{_prefix(here.python, here.numba)}-*{SUFFIX}"))


def _prefix(python: str, numba: str) -> str:
    return f"{python}-numba{numba}"


def _fits(made: Made, here: Made) -> bool:
    """Return whether a pack runs here: made for this processor, or for a level that it supports."""
    from llvmlite import binding as llvm
    from numba import config

    settings: Any = config
    if made == here:
        return True
    if made.system != here.system or made.features or made.processor not in LEVELS:
        return False
    if settings.CPU_NAME is not None or settings.CPU_FEATURES is not None:
        return False  # another processor was requested
    has: dict[str, bool] = llvm.get_host_cpu_features()
    return all(has.get(one) for one in LEVELS[made.processor])


def changed_settings() -> tuple[str, ...]:
    """Return Numba's settings that change machine code and are not those of packs: NAME=VALUE."""
    from numba import config

    values = {name: getattr(config, name, usual[0]) for name, usual in SETTINGS.items()}
    return tuple(f"{name}={one}" for name, one in values.items() if one not in SETTINGS[name])


def _others(here: Made) -> str:
    """Return which packs came with the wheel, as a sentence, if none fits this Python and Numba."""
    if not FOLDER.is_dir():  # a checkout has no packs
        return ""
    there = sorted(path.name.rsplit("-x86", 1)[0] for path in FOLDER.glob(f"*{SUFFIX}"))
    wanted = _prefix(here.python, here.numba)
    return f"{', '.join(there) or 'nothing'} came with this wheel, but this process needs {wanted}"
