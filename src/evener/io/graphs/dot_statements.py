"""Parses the statements of a DOT file: nodes and edges, with weights and positions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from evener.errors import InputError
from evener.io.sources import Source
from evener.io.text import shown

# Tokens: names, numbers, texts in quotes and marks.

# All quantifiers are possessive, so that matching takes linear time.
_READ = {b"weight", b"pos"}  # attributes of nodes and edges
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
    """Yield all tokens, and a last one of kind "end"; InputError for anything else."""
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
            # A backslash at the end of a line joins it with the next one.
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
    """Return an unquoted token's text in lower case, to be compared with keywords."""
    return token.text.lower() if token.kind == "name" else b""


@dataclass(eq=False)
class Found:
    """The nodes and edges of a DOT file.

    directed: whether edges are arcs from u to v. number: of each node, by its name, in order; at:
    the byte where it first stands; loads, places: `weight` and `pos` of those that have them. u, v:
    the nodes each edge joins; weights: of edges, 1 where none is stated; any_weight: whether one
    is. unread: names of other attributes of nodes and edges.
    """

    number: dict[bytes, int] = field(default_factory=dict)
    at: list[int] = field(default_factory=list)
    loads: dict[int, float] = field(default_factory=dict)
    places: dict[int, tuple[float, ...]] = field(default_factory=dict)
    u: list[int] = field(default_factory=list)
    v: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    any_weight: bool = False
    directed: bool = False
    unread: set[bytes] = field(default_factory=set)


class Reader:
    """Reads a DOT file statement by statement; nested groups are kept on a stack.

    directed: whether a directed graph is read, too, or refused.
    """

    def __init__(self, source: Source, *, directed: bool = False) -> None:
        self._source = source
        self._takes_arcs = directed
        self._tokens = tokens(source)
        self._next = next(self._tokens)
        self._found = Found()
        # Defaults of nodes and of edges, those of the innermost group last.
        self._defaults: list[tuple[dict[bytes, Token], dict[bytes, Token]]] = [({}, {})]

    def read(self) -> Found:
        """Return the nodes and edges of the file."""
        self._head()
        depth = 1
        while depth:
            token = self._take()
            if token.kind == "end":
                self._refuse(token, f"ends before its last {depth:,} braces are closed")
            if token == (token.kind, b"}", token.at) and token.kind == "mark":
                depth -= 1
                self._defaults.pop()
                self._refuse_end()
            elif token.kind == "mark" and token.text == b"{":
                depth += 1
                self._open()
            elif not (token.kind == "mark" and token.text in (b";", b",")):
                depth += self._statement(token)
        if self._next.kind != "end":
            self._refuse(self._next, "holds more than one graph")
        return self._found

    def _head(self) -> None:
        token = self._take()
        if word_of(token) == b"strict":
            token = self._take()
        self._found.directed = word_of(token) == b"digraph"
        if self._found.directed and not self._takes_arcs:
            self._refuse(
                token,
                "is a directed graph: an edge of ours goes both ways",
                hint="--directed (directed=True) reads its arcs. Or write it as `graph` with `--`, "
                "or see networkx's G.to_undirected(). " + WAY,
            )
        if word_of(token) not in (b"graph", b"digraph"):
            self._refuse(token, f"must begin `graph NAME {{`, not {shown(token.text)}")
        if self._next.kind != "mark":
            self._take()
        self._expect(b"{")

    def _statement(self, token: Token) -> int:
        """Read one statement that begins with the token; 1 where it opens a group."""
        if token.kind == "mark":
            self._refuse(token, f"a name is needed, not {shown(token.text)}")
        word = word_of(token)
        if word == b"subgraph":
            if self._next.kind != "mark":
                self._take()
            self._expect(b"{")
            self._open()
            return 1
        if word in (b"graph", b"node", b"edge") and self._is(b"["):
            own = self._attributes()
            if word != b"graph":
                self._found.unread |= own.keys() - _READ
                self._defaults[-1][word == b"edge"].update(own)
            return 0
        if self._is(b"="):
            self._take()
            self._name()
            return 0
        self._edges(token)
        return 0

    def _edges(self, token: Token) -> None:
        """Read `a`, or `a -- b -- c`, with the attributes behind it."""
        ends = [self._node(token)]
        while self._is(b"--", b"->"):
            mark = self._take()
            if self._found.directed and mark.text == b"--":
                self._refuse(mark, "joins nodes by --, which is of undirected graphs", hint=WAY)
            if not self._found.directed and mark.text == b"->":
                self._refuse(mark, "joins nodes by ->, which is of directed graphs", hint=WAY)
            if self._is(b"{") or word_of(self._next) == b"subgraph":
                self._refuse(
                    self._next,
                    "joins a group of nodes by one edge, which is not read",
                    hint="Write its edges one by one. " + WAY,
                )
            ends.append(self._node(self._name()))
        own = self._attributes()
        self._found.unread |= own.keys() - _READ
        if len(ends) == 1:
            self._describe(ends[0], own)
            return
        weight = own.get(b"weight", self._defaults[-1][1].get(b"weight"))
        value = 1.0 if weight is None else self._number(weight)
        found = self._found
        found.any_weight |= weight is not None
        found.u += ends[:-1]
        found.v += ends[1:]
        found.weights += [value] * (len(ends) - 1)

    def _node(self, token: Token) -> int:
        """Return the node's number; a new one gets the defaults of now."""
        found = self._found
        number = found.number.setdefault(token.text, len(found.number))
        if number == len(found.at):
            found.at.append(token.at)
            self._describe(number, self._defaults[-1][0])
        for _ in range(2):  # a port and a compass point
            if self._is(b":"):
                self._take()
                self._name()
        return number

    def _describe(self, node: int, own: dict[bytes, Token]) -> None:
        if b"weight" in own:
            self._found.loads[node] = self._number(own[b"weight"])
        if b"pos" in own:
            place = own[b"pos"].text.rstrip(b"!").replace(b",", b" ").split()
            values = [self._number(own[b"pos"], one, sign=True) for one in place]
            self._found.places[node] = tuple(values)

    def _attributes(self) -> dict[bytes, Token]:
        """Read `[name = value, ...]`, as often as it stands there."""
        own: dict[bytes, Token] = {}
        while self._is(b"["):
            self._take()
            while not self._is(b"]"):
                name = self._name()
                value = name
                if self._is(b"="):
                    self._take()
                    value = self._name()
                own[name.text] = value
                if self._is(b",", b";"):
                    self._take()
            self._take()
        return own

    def _open(self) -> None:
        nodes, edges = self._defaults[-1]
        self._defaults.append((dict(nodes), dict(edges)))

    def _refuse_end(self) -> None:
        if self._is(b"--", b"->"):
            self._refuse(
                self._next,
                "joins a group of nodes by one edge, which is not read",
                hint="Write its edges one by one. " + WAY,
            )

    def _name(self) -> Token:
        token = self._take()
        if token.kind in ("mark", "end"):
            what = "the end of the file" if token.kind == "end" else shown(token.text)
            self._refuse(token, f"a name is needed, not {what}")
        while token.kind == "quoted" and self._is(b"+"):
            self._take()
            more = self._take()
            if more.kind != "quoted":
                self._refuse(more, f"a text in quotes is needed, not {shown(more.text)}")
            token = token._replace(text=token.text + more.text)
        return token

    def _number(self, token: Token, text: bytes | None = None, *, sign: bool = False) -> float:
        text = token.text if text is None else text
        try:
            value = float(text)
        except ValueError:
            self._refuse(token, f"a number is needed, not {shown(text)}")
        if not math.isfinite(value) or (value < 0 and not sign):
            self._refuse(token, f"the number {shown(text)} is negative or not finite")
        return value

    def _is(self, *marks: bytes) -> bool:
        return self._next.kind == "mark" and self._next.text in marks

    def _expect(self, mark: bytes) -> None:
        token = self._take()
        if not (token.kind == "mark" and token.text == mark):
            self._refuse(token, f"{mark.decode()} is needed, not {shown(token.text)}")

    def _take(self) -> Token:
        token = self._next
        if token.kind != "end":
            self._next = next(self._tokens)
        return token

    def _refuse(self, token: Token, message: str, hint: str | None = None) -> NoReturn:
        raise self._source.error(message, offset=token.at, hint=hint)
