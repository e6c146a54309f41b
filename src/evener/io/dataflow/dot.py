"""Reads and writes stream graphs in Graphviz's DOT: with costs as attributes, or StreamIt's rates.

Costs: `scalar`, `vector`, `stateful` and "needs.NAME" of nodes, `bytes` and `tokens` of edges;
every node needs a `scalar`, every edge `bytes`. Evener reads chains `a -> b -> c`, attributes,
defaults (`node [...]`), subgraphs as groups of statements, comments, and all names except HTML
names; it skips ports. A subgraph as an edge's end is refused.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow import streamit
from evener.io.dataflow.listed import (
    NEEDS,
    Attributes,
    Listed,
    add_edge,
    add_node,
    edge_attributes,
    node_attributes,
)
from evener.io.machines.toml_syntax import toml_number
from evener.io.sources import Source
from evener.io.text import shown

_KEYS = {"scalar", "vector", "stateful", "bytes", "tokens", "label"}
# Names that would be read back differently: a backslash joins lines and escapes quotes.
_UNWRITABLE = re.compile(r'\\(?=["\n]|\Z)|\0')


def recognises(source: Source) -> bool:
    """Return whether the file begins with `digraph` or `graph`."""
    return source.is_text and _BEGINS.match(source.head) is not None


def read(source: Source) -> StreamGraph:
    """Return the graph. Raises InputError if it is undirected, or has neither costs nor rates."""
    found = _Statements(source)
    found.read()
    names = [_text(source, name) for name in found.number]
    own = [_Own(source, tokens) for tokens in found.of_node]
    of_edge = [_Own(source, tokens) for tokens in found.of_edge]
    if any("scalar" in one.texts for one in own):
        listed = Listed(source)
        for name, one in zip(names, own, strict=True):
            add_node(listed, name, one.of(f"node {name[:40]!r}"))
        for (tail, head), one in zip(found.ends, of_edge, strict=True):
            whose = f"the edge {names[tail][:40]!r} -> {names[head][:40]!r}"
            add_edge(listed, names[tail], names[head], one.of(whose))
        return listed.graph()
    labels = [one.texts.get("label", name) for one, name in zip(own, names, strict=True)]
    tokens = [one.of("an edge").number("tokens", 0.0) for one in of_edge]
    return streamit.graph_of(source, streamit.RatedGraph(names, labels, found.ends, tokens))


class _Own:
    """The attributes of a node or an edge that Evener uses, as texts."""

    def __init__(self, source: Source, tokens: dict[bytes, _Token]) -> None:
        decoded = {key.decode(errors="replace"): token for key, token in tokens.items()}
        self._tokens = {
            key: token for key, token in decoded.items() if key in _KEYS or key.startswith(NEEDS)
        }
        self._source = source
        self.texts = {key: _text(source, token.text) for key, token in self._tokens.items()}

    def of(self, whose: str) -> Attributes:
        """Return the attributes; errors call their owner `whose`."""

        def refuse(key: str, message: str) -> InputError:
            token = self._tokens.get(key)
            return self._source.error(message, offset=None if token is None else token.at)

        return Attributes(self.texts, whose, refuse)


def _text(source: Source, name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise source.error("has names that are not UTF-8 text") from error


def stream_dot(graph: StreamGraph, looks: Sequence[str] = ()) -> str:
    """Return a stream graph as DOT text. Raises InputError for names that DOT cannot hold.

    looks: further attributes of each filter, such as "color=red"; may be empty.
    """
    named = {name: quoted_name(name) for name in graph.names}
    lines = ["rankdir=LR;"] if looks else []
    lines += [
        f"{named[r.name]} [{' '.join(filter(None, (_written(node_attributes(r)), more)))}];"
        for r, more in zip(graph.filter_rows(), looks or [""] * graph.n, strict=True)
    ]
    lines += [
        f"{named[row.tail]} -> {named[row.head]} [{_written(edge_attributes(row))}];"
        for row in graph.edge_rows()
    ]
    return "\n".join(["digraph {", *lines, "}", ""])


def _written(own: dict[str, float | bool] | dict[str, float]) -> str:
    words = []
    for key, value in own.items():
        text = "true" if value is True else toml_number(value)
        # DOT needs quotes around exponents and names with a point.
        shown_value = text if text.isdigit() or value is True else f'"{text}"'
        words.append(f"{quoted_name(key) if key.startswith(NEEDS) else key}={shown_value}")
    return " ".join(words)


def quoted_name(name: str) -> str:
    """Return a name in quotes; raise InputError if DOT cannot hold it."""
    if _UNWRITABLE.search(name):
        raise InputError(
            f"the name {name!r} cannot be written in DOT", hint="TOML and GraphML can store it."
        )
    return '"' + name.replace('"', '\\"') + '"'


# The statements of a DOT file. All quantifiers are possessive, so that matching takes linear time.

_SKIPPED = rb"(?:[^\S\n]++|\n[ \t]*+(?:#[^\n]*+)?|//[^\n]*+|(?>/\*.*?\*/))"
_FIRST = rb"(?:\A[ \t]*+#[^\n]*+)?" + _SKIPPED + rb"*+"
_BEGINS = re.compile(
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


class _Token(NamedTuple):
    """A token of a DOT file.

    kind: "name", "number", "quoted", "mark" or "end"; text: without quotes; at: its offset.
    """

    kind: str
    text: bytes
    at: int

    @property
    def word(self) -> bytes:
        """The text of an unquoted name in lower case, to be compared with keywords."""
        return self.text.lower() if self.kind == "name" else b""


def _tokens(source: Source) -> Iterator[_Token]:
    """Yield all tokens, then one of kind "end"; raise InputError for anything else."""
    data, at = source.data, 0
    while at < len(data):
        match = _TOKEN.match(data, at)
        if match is None:
            rest = data[at : at + 1]
            reason = {
                b'"': "a quotation mark is not closed",
                b"/": "a comment is not closed",
                b"<": "has an HTML name, which Evener does not read",
            }
            raise source.error(reason.get(rest, f"unexpected {shown(rest)}"), offset=at)
        kind, at = str(match.lastgroup), match.end()
        if kind == "skip":
            continue
        text = match.group()
        if kind == "quoted":
            # A backslash at the end of a line joins it with the next one.
            text = text[1:-1].replace(b"\\\n", b"").replace(b'\\"', b'"')
        yield _Token(kind, text, match.start())
    yield _Token("end", b"", max(0, len(data.rstrip()) - 1))


class _Statements:
    """Reads the statements of a `digraph`; a stack holds the defaults of nested groups.

    number: the number of each node, by name, in file order; of_node: the attributes of each node;
    ends: the two nodes of each edge; of_edge: the attributes of each edge.
    """

    def __init__(self, source: Source) -> None:
        self.number: dict[bytes, int] = {}
        self.of_node: list[dict[bytes, _Token]] = []
        self.ends: list[tuple[int, int]] = []
        self.of_edge: list[dict[bytes, _Token]] = []
        self._source = source
        self._tokens = _tokens(source)
        self._next = next(self._tokens)
        # Defaults of nodes and of edges, those of the innermost group last.
        self._defaults: list[tuple[dict[bytes, _Token], dict[bytes, _Token]]] = [({}, {})]

    def read(self) -> None:
        """Read all nodes and edges of the file."""
        self._head()
        depth = 1
        while depth:
            token = self._take()
            if token.kind == "end":
                self._refuse(token, f"ends before its last {depth:,} braces are closed")
            if token.kind == "mark" and token.text == b"}":
                depth -= 1
                self._defaults.pop()
                if self._is(b"--", b"->"):
                    self._refuse_group()
            elif token.kind == "mark" and token.text == b"{":
                depth += 1
                self._open()
            elif not (token.kind == "mark" and token.text in (b";", b",")):
                depth += self._statement(token)
        if self._next.kind != "end":
            self._refuse(self._next, "contains more than one graph")

    def _head(self) -> None:
        token = self._take()
        if token.word == b"strict":
            token = self._take()
        if token.word == b"graph":
            self._refuse(
                token,
                "is an undirected graph: data flow one way along an edge",
                hint="Write `digraph` and `->`.",
            )
        if token.word != b"digraph":
            self._refuse(token, f"must begin with `digraph NAME {{`, not with {shown(token.text)}")
        if self._next.kind != "mark":
            self._take()
        self._expect(b"{")

    def _statement(self, token: _Token) -> int:
        """Read one statement that begins with the token; return 1 if it opens a group, else 0."""
        if token.kind == "mark":
            self._refuse(token, f"a name is needed, not {shown(token.text)}")
        if token.word == b"subgraph":
            if self._next.kind != "mark":
                self._take()
            self._expect(b"{")
            self._open()
            return 1
        if token.word in (b"graph", b"node", b"edge") and self._is(b"["):
            own = self._attributes()
            if token.word != b"graph":
                self._defaults[-1][token.word == b"edge"].update(own)
        elif self._is(b"="):
            self._take()
            self._name()
        else:
            self._edges(token)
        return 0

    def _edges(self, token: _Token) -> None:
        """Read `a`, or `a -> b -> c`, and the attributes that follow."""
        chain = [self._node(token)]
        while self._is(b"--", b"->"):
            mark = self._take()
            if mark.text == b"--":
                self._refuse(mark, "joins nodes by --, but a digraph needs ->")
            if self._is(b"{") or self._next.word == b"subgraph":
                self._refuse_group()
            chain.append(self._node(self._name()))
        own = self._attributes()
        if len(chain) == 1:
            self.of_node[chain[0]].update(own)
        for ends in itertools.pairwise(chain):
            self.ends.append(ends)
            self.of_edge.append({**self._defaults[-1][1], **own})

    def _node(self, token: _Token) -> int:
        """Return the node's number; a new node gets the current default attributes."""
        number = self.number.setdefault(token.text, len(self.number))
        if number == len(self.of_node):
            self.of_node.append(dict(self._defaults[-1][0]))
        for _ in range(2):  # a port and a compass point
            if self._is(b":"):
                self._take()
                self._name()
        return number

    def _attributes(self) -> dict[bytes, _Token]:
        """Read `[name = value, ...]`, repeated any number of times."""
        own: dict[bytes, _Token] = {}
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

    def _refuse_group(self) -> NoReturn:
        self._refuse(
            self._next,
            "has an edge to or from a group of nodes, which Evener does not read",
            hint="Write its edges one by one.",
        )

    def _name(self) -> _Token:
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

    def _is(self, *marks: bytes) -> bool:
        return self._next.kind == "mark" and self._next.text in marks

    def _expect(self, mark: bytes) -> None:
        token = self._take()
        if not (token.kind == "mark" and token.text == mark):
            self._refuse(token, f"{mark.decode()} is needed, not {shown(token.text)}")

    def _take(self) -> _Token:
        token = self._next
        if token.kind != "end":
            self._next = next(self._tokens)
        return token

    def _refuse(self, token: _Token, message: str, hint: str | None = None) -> NoReturn:
        raise self._source.error(message, offset=token.at, hint=hint)
