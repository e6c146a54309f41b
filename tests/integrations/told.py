"""What ranks are to own and see, and to be told where something does not fit."""

import numpy as np


def beyond_facets(graph, part, rank):
    """The cells of other blocks that share a facet with the rank's, ascending."""
    tails = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    return np.unique(graph.adjncy[(part[tails] == rank) & (part[graph.adjncy] != rank)])


def assert_cells(found, way, mode, graph, part):
    """Each rank owns its block, and sees beyond its facets where ghosts are wanted."""
    for rank, result in enumerate(found):
        block = np.flatnonzero(part == rank)
        assert np.array_equal(np.sort(result[f"{way} {mode} owned"]), block)
        assert result[f"{way} {mode} checked"] == block.size
        ghosts = beyond_facets(graph, part, rank)
        assert ghosts.size > 5
        expected = ghosts if mode == "shared_facet" else []
        assert np.array_equal(np.sort(result[f"{way} {mode} ghosts"]), expected)


def assert_refused(told, refused):
    """Every rank was told the same of each trial: an error of this kind, with these words."""
    for name, (kind, words) in refused.items():
        messages = {str(result[name]) for result in told}
        assert len(messages) == 1, f"{name}: {messages}"
        message = messages.pop()
        assert message.startswith(f"{kind}: "), f"{name}: {message}"
        assert words in message, f"{name}: {message}"
