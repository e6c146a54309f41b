"""Reading a file of TOML: its text and its tables, or an InputError that says where it is wrong."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from evener.errors import InputError
from evener.filing.toml_lines import error_line


class TomlFile(NamedTuple):
    """What a kind of file is called, what an empty one lacks, how to get one, its most bytes."""

    what: str
    empty: str
    hint: str
    max_bytes: int


def read_toml(
    path: str | Path, kind: TomlFile, parse_float: Callable[[str], Any] = float
) -> tuple[str, dict[str, Any]]:
    """Return a file's text, its lines ended by one newline each, and its parsed tables."""
    text = _text_of(Path(path), kind)
    try:
        return text, tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as error:
        message = re.sub(r" \(at [^)]*\)$", "", str(error))
        at = error_line(str(error), text)
        raise InputError(f"not valid TOML: {message}", file=path, line=at) from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"not valid TOML: {reason}", file=path) from error


def _text_of(path: Path, kind: TomlFile) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(kind.max_bytes + 1)
    except OSError as error:
        reason = "is a folder" if path.is_dir() else error.strerror or str(error)
        hint = kind.hint if isinstance(error, FileNotFoundError) else None
        raise InputError(f"no {kind.what} to read: {reason}", file=path, hint=hint) from error
    except ValueError as error:  # a zero byte in the name
        shown = repr(os.fspath(path))
        raise InputError(f"no {kind.what} to read: {error}", file=shown) from error
    if len(raw) > kind.max_bytes:
        raise InputError(f"more than {kind.max_bytes >> 20} MiB: not a {kind.what}", file=path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        message = f"not a text in UTF-8, so no {kind.what}"
        raise InputError(message, file=path, line=line) from error
    if not text.strip():
        raise InputError(f"empty: {kind.empty}", file=path)
    return text.replace("\r\n", "\n")
