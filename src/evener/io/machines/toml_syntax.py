"""Reads TOML files, with line numbers of tables and keys for errors; writes values as TOML.

tomllib does not return positions of valid values. This module therefore searches the text for the
n-th `[[kind]]` header and for a key below it, after masking comments and quoted texts.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from evener.errors import InputError
from evener.files.opening import named, read_bytes

_TEXT_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""'
    r"|'''.*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*",
    re.DOTALL,
)
MOST_PARTS = 32  # parts of a dotted key; files described in the docs have at most three
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(
    rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}", re.DOTALL
)
_ERROR_LINE = re.compile(r"at line (\d+)")


class TomlLines:
    """Finds the line, from 1, of a table or key in a TOML text; None if it is not found."""

    def __init__(self, text: str) -> None:
        self._lines = _TEXT_OR_COMMENT.sub(_masked, text).split("\n")

    def table(self, kind: str, index: int) -> int | None:
        """Line of the index-th [[kind]] header, or of `kind = [...]`, or of [kind]."""
        line = self._nth(rf"\s*\[\[\s*{_word(kind)}\s*\]\]", index)
        return line or self._nth(rf"\s*\[\s*{_word(kind)}\s*\]", 0) or self.top(kind)

    def key(self, kind: str, index: int, key: str) -> int | None:
        """Line of a key in the index-th table of a kind; if it is not found, the table's line."""
        start = self.table(kind, index)
        if start is None:
            return None
        below = rf"\s*\[+\s*{_word(kind)}\s*\."  # [device.capabilities] belongs to the device
        wanted = re.compile(rf"(?:^|[.{{,\[])\s*{_word(key)}\s*[=.\]]")
        for number, line in enumerate(self._lines[start - 1 :], start=start):
            if number > start and re.match(r"\s*\[", line) and not re.match(below, line):
                break
            if wanted.search(line):
                return number
        return start

    def top(self, key: str) -> int | None:
        """Line of a key or table at the top level of the text."""
        return self._nth(rf"\s*\[*\s*{_word(key)}\s*[=.\]]", 0)

    def _nth(self, pattern: str, index: int) -> int | None:
        seen = 0
        for number, line in enumerate(self._lines, start=1):
            if re.match(pattern, line):
                if seen == index:
                    return number
                seen += 1
        return None


def error_line(message: str, text: str) -> int:
    """Line of a syntax error, from tomllib's message; "at end of document" is the last line."""
    found = _ERROR_LINE.search(message)
    return int(found.group(1)) if found else max(text.rstrip("\n").count("\n") + 1, 1)


def long_key_line(text: str) -> int | None:
    """Line of the first key with more than MOST_PARTS parts; None if there is none.

    tomllib's time grows with the square of the number of parts, or faster.
    """
    if _LONG_KEY.search(text) is None:
        return None
    # There is a candidate, but it may be inside a text or a comment.
    masked = _TEXT_OR_COMMENT.sub(_emptied, text)
    found = _LONG_KEY.search(masked)
    return None if found is None else masked.count("\n", 0, found.start()) + 1


def _word(key: str) -> str:
    return rf"[\"']?{re.escape(key)}[\"']?"


def _emptied(match: re.Match[str]) -> str:
    text = match.group()
    return "" if text.startswith("#") else '""' + "\n" * text.count("\n")


def _masked(match: re.Match[str]) -> str:
    text = match.group()
    if text.startswith("#"):
        return ""
    return re.sub(r"[^\w\n\"' -]", "_", text)


class TomlFile(NamedTuple):
    """A kind of file: its name, the fault of an empty file, a hint for errors, maximum size [B]."""

    what: str
    empty: str
    hint: str
    max_bytes: int


def read_toml(
    path: str | Path, kind: TomlFile, parse_float: Callable[[str], Any] = float
) -> tuple[str, dict[str, Any]]:
    """Return a file's text, with each line ended by one newline, and its parsed tables."""
    return parse_toml(_bytes_of(path, kind), path, kind, parse_float)


def parse_toml(
    raw: bytes, path: str | Path, kind: TomlFile, parse_float: Callable[[str], Any] = float
) -> tuple[str, dict[str, Any]]:
    """Like `read_toml`, for the content `raw` of the file at `path`."""
    text = _text_of(raw, path, kind)
    if (line := long_key_line(text)) is not None:
        message = f"a dotted key has more than {MOST_PARTS} parts, so this is no {kind.what}"
        raise InputError(message, file=named(path), line=line)
    try:
        return text, tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as error:
        message = re.sub(r" \(at [^)]*\)$", "", str(error))
        at = error_line(str(error), text)
        raise InputError(
            f"not valid TOML, so no {kind.what}: {message}", file=named(path), line=at
        ) from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(
            f"not valid TOML, so no {kind.what}: {reason}", file=named(path)
        ) from error


def _bytes_of(path: str | Path, kind: TomlFile) -> bytes:
    try:
        return read_bytes(path, kind.max_bytes)
    except InputError as error:
        missing = isinstance(error.__cause__, FileNotFoundError)
        raise InputError(
            f"the {kind.what} cannot be read: {error.message.removeprefix('cannot be read: ')}",
            file=error.file,
            hint=kind.hint if missing else error.hint,
        ) from error


def _text_of(raw: bytes, path: str | Path, kind: TomlFile) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        message = f"not a text in UTF-8, so no {kind.what}"
        raise InputError(message, file=named(path), line=line) from error
    if not text.strip():
        raise InputError(f"empty: {kind.empty}", file=named(path))
    return text.replace("\r\n", "\n")


def toml_number(value: float) -> str:
    """Return a float with all its digits; a whole number without a decimal point."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def toml_text(value: str) -> str:
    """Return a text as a quoted TOML string."""
    # JSON's escapes are TOML's, except for DEL. Unprintable characters are escaped, too; unpaired
    # surrogates, which TOML cannot escape, stay, and make writing the file as UTF-8 fail.
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() or _is_half(c) else _escaped(c) for c in quoted)


def _is_half(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def toml_key(key: str) -> str:
    """Return a key, quoted if necessary."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_text(key)
