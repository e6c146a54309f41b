"""Plan files: one portable file that NumPy alone can open.

A plan is an `.npz` archive: `part` (n,) int32, the exchange's three arrays, and `manifest`, JSON
text with everything else. Members carry a fixed date, so that the same plan is the same bytes.
"""

from __future__ import annotations

import io
import json
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import EvenerError, InputError
from evener.filing.manifest_reading import plan_of
from evener.filing.manifest_writing import FORMAT, FORMAT_VERSION, manifest_text
from evener.plans import Plan
from evener.writing import FIXED_DATE, atomic_write

# A small file must not ask for much memory: no member grows beyond this many times its packed
# bytes, unless it is small enough to do no harm. What shrinks further is stored as it is.
_GROWTH, _ALWAYS_ALLOWED = 200, 64 * 2**20
_BIG_ARRAYS = ("part", "sender", "receiver", "values")


def write_plan(path: str | Path, plan: Plan) -> None:
    """Write the plan, whole or not at all; equal plans give equal bytes."""
    exchange = plan.evaluation.exchange
    arrays: dict[str, npt.NDArray[Any]] = {
        "part": plan.partition.part,
        "sender": exchange.sender.astype(np.int64),
        "receiver": exchange.receiver.astype(np.int64),
        "values": exchange.values.astype(np.int64),
        "manifest": np.array(manifest_text(plan)),
    }
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", FIXED_DATE)
            member.create_system = 3  # the same bytes on every system
            content = io.BytesIO()
            # Not made contiguous: that would give the manifest, which has no dimension, one.
            np.lib.format.write_array(content, array, allow_pickle=False)
            member.compress_type = _packing(content.getbuffer())
            archive.writestr(member, content.getvalue(), compresslevel=6)


def read_plan(path: str | Path) -> Plan:
    """Read a plan file. Raises InputError where it is none, damaged or does not fit together."""
    try:
        return plan_of(*_members(Path(path)))
    except EvenerError as error:
        if error.file is None:
            error.file = str(path)
        raise
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=path) from error
    except (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError,
            NotImplementedError, RuntimeError, SyntaxError, TypeError, ValueError,
            Warning, tokenize.TokenError, zipfile.BadZipFile, zlib.error) as error:  # fmt: skip
        raise InputError(
            f"is not a plan file, or a damaged one ({type(error).__name__}: {error})",
            file=path,
            hint="Make it again with `evener plan`.",
        ) from error


def plan_in(path: str | Path) -> Plan | None:
    """Return the plan that a file of a partition is; None for any other file."""
    try:
        return read_plan(path) if zipfile.is_zipfile(path) else None
    except (EvenerError, OSError):
        return None


def _packing(content: memoryview) -> int:
    large = len(content) > _ALWAYS_ALLOWED
    if large and len(zlib.compress(content, 6)) * _GROWTH < len(content):
        return zipfile.ZIP_STORED
    return zipfile.ZIP_DEFLATED


def _members(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        text = _member(archive, "manifest")
        if text.dtype.kind != "U" or text.ndim != 0:
            raise InputError("is not a plan file: its manifest is no text")
        data = json.loads(str(text))
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InputError("is not a plan file")
        if data["format_version"] > FORMAT_VERSION:
            raise InputError(
                f"has plan format {data['format_version']}, newer than this evener reads "
                f"({FORMAT_VERSION})",
                hint="Update evener.",
            )
        return {name: _member(archive, name) for name in _BIG_ARRAYS}, data


def _member(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read one array; its size is looked at before memory is reserved for it."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{name} is packed in a way that plans are not")
    if member.file_size > max(_ALWAYS_ALLOWED, _GROWTH * member.compress_size):
        raise InputError(f"{name} claims {member.file_size:,} bytes, more than it can hold")
    with archive.open(member) as file:
        # To the last byte, where the checksum is compared; asked for more, it would unpack more.
        content = io.BytesIO(file.read(member.file_size))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns of headers that it has to mend
        return np.asarray(np.lib.format.read_array(content, allow_pickle=False))
