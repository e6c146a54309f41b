"""Archives of plans of every kind: arrays, and a manifest in JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evener.errors import EvenerError, InputError
from evener.files.writing import atomic_write
from evener.io.archives import Arrays, damage_refused, read_arrays, write_arrays
from evener.io.json_text import dumps, loads
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
    text = np.array(dumps(manifest))
    with atomic_write(path) as file:
        write_arrays(file, {**arrays, "manifest": text}, level=level)


def read_archived(
    path: str | Path,
    arrays: Sequence[str],
    make: Callable[[Arrays, dict[str, Any]], Made],
    what: str,
    hint: str = "",
) -> Made:
    """Return make(arrays, manifest) for the arrays and the manifest of a file.

    what: the file's kind, such as "a plan"; hint: how to make such a file. Raises InputError, with
    the file, if it is not an archive with a manifest, or if `make` fails.
    """
    with damage_refused(path, f"{what} file", hint):
        data = open_source(path, folders=False).data
        if not data.startswith(b"PK"):
            raise InputError(f"is not {what} file")
        try:
            found = read_arrays(data, (*arrays, "manifest"))
        except InputError as error:
            message = f"is not a readable {what.partition(' ')[2]} file: {error.message}"
            raise InputError(message, hint=error.hint) from error
        text = found.pop("manifest")
        if text.dtype.kind != "U" or text.ndim != 0:
            raise InputError(f"is not {what} file: its manifest is not text")
        manifest = loads(str(text), finite=True)  # as when it was written
        if not isinstance(manifest, dict):
            raise InputError(f"is not {what} file")
        return make(found, manifest)


def format_in(path: str | Path) -> str:
    """Return the format that a plan file's manifest states; "" if the file cannot be read."""
    try:
        found = read_arrays(open_source(path, folders=False).data, ("manifest",))
        manifest = loads(str(found["manifest"][()]))
    except (EvenerError, ArithmeticError, LookupError, TypeError, ValueError):
        return ""
    return str(manifest.get("format", "")) if isinstance(manifest, Mapping) else ""
