"""Reading a file of TOML: its text and its tables, or an InputError that says where it is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from evener.errors import InputError
from evener.filing.toml_lines import MOST_PARTS, error_line, long_key_line
from evener.opening import named, read_bytes


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
    text = _text_of(path, kind)
    if (line := long_key_line(text)) is not None:
        message = f"a dotted key of more than {MOST_PARTS} parts: no {kind.what} has one"
        raise InputError(message, file=named(path), line=line)
    try:
        return text, tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as error:
        message = re.sub(r" \(at [^)]*\)$", "", str(error))
        at = error_line(str(error), text)
        raise InputError(f"not valid TOML: {message}", file=named(path), line=at) from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"not valid TOML: {reason}", file=named(path)) from error


def _text_of(path: str | Path, kind: TomlFile) -> str:
    try:
        raw = read_bytes(path, kind.max_bytes)
    except InputError as error:
        missing = isinstance(error.__cause__, FileNotFoundError)
        raise InputError(
            f"no {kind.what} to read: {error.message.removeprefix('cannot be read: ')}",
            file=error.file,
            hint=kind.hint if missing else error.hint,
        ) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        message = f"not a text in UTF-8, so no {kind.what}"
        raise InputError(message, file=named(path), line=line) from error
    if not text.strip():
        raise InputError(f"empty: {kind.empty}", file=named(path))
    return text.replace("\r\n", "\n")
