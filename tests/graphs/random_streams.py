"""Small stream graphs with odd names and numbers, drawn by Hypothesis."""

from hypothesis import strategies as st

from evener.graphs.stream_graph import EdgeRow, FilterRow, StreamGraph

amounts = st.floats(0, 1e100) | st.integers(0, 2**60).map(float)
texts = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=6
)


@st.composite
def stream_graphs(draw):
    names = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    filters = [
        FilterRow(
            name,
            draw(amounts),
            1.0 if stateful else draw(st.floats(1, 1e9)),
            stateful,
            draw(st.dictionaries(st.sampled_from(["ram", "a b", "é.x"]), amounts, max_size=2)),
        )
        for name in names
        for stateful in (draw(st.booleans()),)
    ]
    edges = []
    for _ in range(draw(st.integers(0, 6)) if len(names) > 1 else 0):
        a, b = draw(st.permutations(range(len(names))))[:2]
        least = 1 if a > b else 0  # what goes back may close a cycle
        tokens = draw(st.integers(least, 9))
        edges.append(EdgeRow(names[a], names[b], draw(amounts), float(tokens)))
    return StreamGraph.of(filters, edges)
