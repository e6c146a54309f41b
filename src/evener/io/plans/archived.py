"""Archives of edge plans and stream plans: arrays, and a manifest in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evener.errors import EvenerError, InputError
from evener.files.writing import atomic_write
from evener.io.archives import Arrays, read_arrays, write_arrays
from evener.io.json_text import loads
from evener.io.sources import open_source

Made = TypeVar("Made")


def write_archived(
    path: str | Path,
    arrays: Mapping[str, npt.NDArray[Any]],
    manifest: Mapping[str, Any],
    level: int = 6,
) -> None:
    """Write arrays and their manifest, whole or not at all; equal arguments give equal bytes.

    level: of compression, 0 to 9.
    """
    text = json.dumps(manifest, indent=1, allow_nan=False)
    with atomic_write(path) as file:
        write_arrays(file, {**arrays, "manifest": np.array(text)}, level=level)


def read_archived(
    path: str | Path,
    arrays: Sequence[str],
    make: Callable[[Arrays, Mapping[str, Any]], Made],
    what: str,
) -> Made:
    """Return make(arrays, manifest) for the arrays and the manifest of a file.

    Raises InputError, with the file, if it is not an archive or `make` fails: it is not `what`.
    """
    try:
        found = read_arrays(open_source(path, folders=False).data, (*arrays, "manifest"))
        return make(found, loads(str(found["manifest"][()])))
    except EvenerError as error:
        error.file = error.file or str(path)
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"is not {what} file, or it is damaged ({type(error).__name__}: {error})",
            file=str(path),
        ) from error


def format_in(path: str | Path) -> str:
    """Return the format that a plan file's manifest states; "" if the file cannot be read."""
    try:
        found = read_arrays(open_source(path, folders=False).data, ("manifest",))
        manifest = loads(str(found["manifest"][()]))
    except (EvenerError, ArithmeticError, LookupError, TypeError, ValueError):
        return ""
    return str(manifest.get("format", "")) if isinstance(manifest, Mapping) else ""
