"""Reads and writes stream graphs in Graphviz's DOT: with costs as attributes, or StreamIt's rates.

Costs: `scalar`, `vector`, `stateful` and "needs.NAME" of nodes, `bytes` and `tokens` of edges;
every node needs a `scalar`, every edge `bytes`.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from evener.io.graphs.dot import quoted_name
from evener.io.graphs.dot_statements import BEGINS, Reader, Token
from evener.io.machines.toml_syntax import toml_number
from evener.io.sources import Source

_KEYS = {"scalar", "vector", "stateful", "bytes", "tokens", "label"}


def recognises(source: Source) -> bool:
    """Return whether the file begins with `digraph` or `graph`."""
    return source.is_text and BEGINS.match(source.head) is not None


def read(source: Source) -> StreamGraph:
    """Return the graph. Raises InputError for undirected ones, and without costs and rates."""
    reader = _Attributes(source, directed=True)
    found = reader.read()
    if not found.directed:
        raise source.error(
            "is an undirected graph: data flow one way along an edge",
            hint="Write `digraph` and `->`.",
        )
    names = [_text(source, name) for name in found.number]
    ends = list(zip(found.u, found.v, strict=True))
    own = [_Own(source, reader.of_node.get(v, {})) for v in range(len(names))]
    if any("scalar" in one.texts for one in own):
        return _with_costs(source, names, own, ends, reader)
    labels = [one.texts.get("label", name) for one, name in zip(own, names, strict=True)]
    tokens = [_Own(source, one).of("an edge").number("tokens", 0.0) for one in reader.of_edge]
    return streamit.graph_of(source, streamit.RatedGraph(names, labels, ends, tokens))


def _with_costs(
    source: Source,
    names: list[str],
    own: list[_Own],
    ends: list[tuple[int, int]],
    reader: _Attributes,
) -> StreamGraph:
    listed = Listed(source)
    for name, one in zip(names, own, strict=True):
        add_node(listed, name, one.of(f"node {name[:40]!r}"))
    for (tail, head), tokens in zip(ends, reader.of_edge, strict=True):
        whose = f"the edge {names[tail][:40]!r} -> {names[head][:40]!r}"
        add_edge(listed, names[tail], names[head], _Own(source, tokens).of(whose))
    return listed.graph()


class _Attributes(Reader):
    """Keeps the attributes of nodes and edges that say what they cost."""

    def __init__(self, source: Source, *, directed: bool) -> None:
        super().__init__(source, directed=directed)
        self.of_node: dict[int, dict[bytes, Token]] = {}
        self.of_edge: list[dict[bytes, Token]] = []

    def _describe(self, node: int, own: dict[bytes, Token]) -> None:
        self.of_node.setdefault(node, {}).update(own)

    def _attributes(self) -> dict[bytes, Token]:
        own = super()._attributes()
        self._last = {**self._defaults[-1][1], **own}
        return {key: token for key, token in own.items() if key != b"weight"}

    def _edges(self, token: Token) -> None:
        before = len(self._found.u)
        super()._edges(token)
        self.of_edge += [self._last] * (len(self._found.u) - before)


class _Own:
    """The attributes of a node or an edge that are of use here, as texts."""

    def __init__(self, source: Source, tokens: dict[bytes, Token]) -> None:
        decoded = {key.decode(errors="replace"): token for key, token in tokens.items()}
        self._tokens = {
            key: token for key, token in decoded.items() if key in _KEYS or key.startswith(NEEDS)
        }
        self._source = source
        self.texts = {key: _text(source, token.text) for key, token in self._tokens.items()}

    def of(self, whose: str) -> Attributes:
        """Return them as attributes of what `whose` names."""

        def refuse(key: str, message: str) -> InputError:
            token = self._tokens.get(key)
            return self._source.error(message, offset=None if token is None else token.at)

        return Attributes(self.texts, whose, refuse)


def stream_dot(graph: StreamGraph, looks: Sequence[str] = ()) -> str:
    """Return the text of a stream graph in DOT. Raises InputError for names that it cannot hold.

    looks: further attributes of each filter, "color=red", or none.
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
        # DOT knows neither exponents nor names with a point, but in quotes.
        shown = text if text.isdigit() or value is True else f'"{text}"'
        words.append(f"{quoted_name(key) if key.startswith(NEEDS) else key}={shown}")
    return " ".join(words)


def _text(source: Source, name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise source.error("has names that are not UTF-8 text") from error
