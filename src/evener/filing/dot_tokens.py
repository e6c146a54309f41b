"""The words of a DOT file: names, numbers, texts in quotes and marks, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evener.errors import InputError
from evener.filing.sources import Source
from evener.filing.text import shown

# Possessive throughout: what is a comment is one, however the rest reads.
_SKIPPED = rb"(?:[^\S\n]++|\n[ \t]*+(?:#[^\n]*+)?|//[^\n]*+|(?>/\*.*?\*/))"
_FIRST = rb"(?:\A[ \t]*+#[^\n]*+)?" + _SKIPPED + rb"*+"
BEGINS = re.compile(
    _FIRST + rb"(?:strict\b" + _SKIPPED + rb"*+)?(?:di)?graph\b" + _SKIPPED + rb"*+"
    rb'(?:[\w.\x80-\xff]++|"(?:\\.|[^"\\])*+")?' + _SKIPPED + rb"*+\{",
    re.IGNORECASE | re.DOTALL,
)
_TOKEN = re.compile(
    rb"(?P<skip>" + _SKIPPED + rb"|\A\#[^\n]*+)"
    rb'|(?P<quoted>"(?:\\.|[^"\\])*+")'
    rb"|(?P<number>-?+(?:\.\d++|\d++(?:\.\d*+)?+)(?![\w\x80-\xff]))"
    rb"|(?P<name>[A-Za-z_\x80-\xff][\w\x80-\xff]*+)"
    rb"|(?P<mark>--|->|[{}\[\];,=:+])",
    re.DOTALL,
)
WAY = "networkx.nx_agraph.read_dot(FILE), made what is wanted, goes into ev.Graph.from_networkx."


class Token(NamedTuple):
    """kind: "name", "number", "quoted", "mark" or "end"; text without quotes; at: its offset."""

    kind: str
    text: bytes
    at: int


def tokens(source: Source) -> Iterator[Token]:
    """Yield all words, and a last one of kind "end"; InputError for what is none."""
    data, at = source.data, 0
    while at < len(data):
        match = _TOKEN.match(data, at)
        if match is None:
            raise _unreadable(source, at)
        kind, at = str(match.lastgroup), match.end()
        if kind == "skip":
            continue
        text = match.group()
        if kind == "quoted":
            # A line that ends with a backslash goes on in the next one.
            text = text[1:-1].replace(b"\\\n", b"").replace(b'\\"', b'"')
        yield Token(kind, text, match.start())
    yield Token("end", b"", max(0, len(data.rstrip()) - 1))


def _unreadable(source: Source, at: int) -> InputError:
    rest = source.data[at : at + 1]
    if rest == b"<":
        return source.error("has a name in HTML, which is not read", offset=at, hint=WAY)
    reason = {b'"': "a quotation mark is not closed", b"/": "a comment is not closed"}
    return source.error(reason.get(rest, f"{shown(rest)} cannot stand here"), offset=at)


def word_of(token: Token) -> bytes:
    """A keyword in lower case, of what is not in quotes."""
    return token.text.lower() if token.kind == "name" else b""
