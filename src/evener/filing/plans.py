"""Plan files: one portable file that NumPy alone can open.

A plan is an `.npz` archive: `part` (n,) int32, the exchange's three arrays, and `manifest`, JSON
text with everything else. Members carry a fixed date, so that the same plan is the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import EvenerError, InputError
from evener.filing.archives import Arrays, read_arrays, write_arrays
from evener.filing.json_reading import loads
from evener.filing.manifest_reading import plan_of
from evener.filing.manifest_writing import FORMAT, FORMAT_VERSION, manifest_text
from evener.filing.plan_checks import check_numbers
from evener.filing.sources import Source, open_source
from evener.plans import Plan
from evener.writing import atomic_write

_BIG_ARRAYS = ("part", "sender", "receiver", "values")


def write_plan(path: str | Path, plan: Plan) -> None:
    """Write the plan, whole or not at all; equal plans give equal bytes.

    Raises InputError for numbers that no plan can have, as read_plan does.
    """
    check_numbers(plan)
    exchange = plan.evaluation.exchange
    arrays: dict[str, npt.NDArray[Any]] = {
        "part": plan.partition.part,
        "sender": exchange.sender.astype(np.int64),
        "receiver": exchange.receiver.astype(np.int64),
        "values": exchange.values.astype(np.int64),
        "manifest": np.array(_text_of(plan)),
    }
    with atomic_write(path) as file:
        write_arrays(file, arrays, level=6)


def read_plan(path: str | Path) -> Plan:
    """Read a plan file. Raises InputError where it is none, damaged or does not fit together."""
    with _refused(path):
        plan = plan_of(*_members(open_source(path, folders=False)))
        check_numbers(plan)
        return plan


def manifest_in(path: str | Path) -> dict[str, Any]:
    """Return what a plan file says in JSON, as it stands there. Raises InputError as read_plan."""
    with _refused(path):
        return _members(open_source(path, folders=False))[1]


@contextmanager
def _refused(path: str | Path) -> Iterator[None]:
    """Turn whatever a damaged file makes Python raise into an InputError that names the file."""
    try:
        yield
    except EvenerError as error:
        if error.file is None:
            error.file = str(path)
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError,
            ValueError) as error:  # fmt: skip
        raise InputError(
            f"is not a plan file, or a damaged one ({type(error).__name__}: {error})",
            file=path,
            hint="Make it again with `evener plan`.",
        ) from error


def plan_in(path: str | Path) -> Plan | None:
    """Return the plan that a file of a partition is; None for any other file."""
    try:
        return read_plan(path)
    except EvenerError:
        return None


def _text_of(plan: Plan) -> str:
    try:
        return manifest_text(plan)
    except (TypeError, ValueError) as error:
        raise InputError(f"the plan holds what its file cannot: {error}") from error


def _members(source: Source) -> tuple[Arrays, dict[str, Any]]:
    if not source.data.startswith(b"PK"):
        raise InputError("is not a plan file", hint="`evener plan ... -o X.plan` makes one.")
    try:
        arrays = read_arrays(source.data, {"manifest", *_BIG_ARRAYS})
    except InputError as error:
        message = f"is not a plan file that can be read: {error.message}"
        raise InputError(message, hint=error.hint) from error
    text = arrays.pop("manifest")
    if text.dtype.kind != "U" or text.ndim != 0:
        raise InputError("is not a plan file: its manifest is no text")
    data = loads(str(text), finite=True)  # as it is written
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError("is not a plan file")
    if data["format_version"] > FORMAT_VERSION:
        raise InputError(
            f"has plan format {data['format_version']}, newer than this evener reads "
            f"({FORMAT_VERSION})",
            hint="Update evener.",
        )
    return arrays, data
