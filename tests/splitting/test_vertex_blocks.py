"""Edge partitions from vertex partitions: inner edges stay, cut ones go to one of two blocks."""

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.plans.partition import Contract
from evener.splitting import vertex_blocks
from evener.splitting.clustering_kernels import place_vertices
from evener.splitting.methods import split_with

EDGES = EdgeList.of_graph(grid((12, 12)))
TARGETS = np.array([1.0, 1.0, 2.0]) / 4 * EDGES.m
FREE = Contract(TARGETS, TARGETS * 0, np.full(3, 1e9))


@pytest.mark.parametrize("cut", ["random", "greedy"])
def test_edges_go_to_the_block_of_an_end(monkeypatch, cut):
    homes = np.repeat(np.array([0, 1, 2], np.int32), 48)
    monkeypatch.setattr(vertex_blocks, "blocks_of_vertices", lambda *_: homes)
    part = vertex_blocks.by_vertex_blocks(EDGES, FREE, "default", 7, cut=cut).partition.part
    ends = homes[np.stack([EDGES.tails, EDGES.heads])]
    assert ((part == ends[0]) | (part == ends[1])).all()
    assert np.unique(part[ends[0] != ends[1]]).size > 1


def test_vertices_go_where_they_cost_least():
    graph = grid((6, 6))
    order, targets = np.random.default_rng(2).permutation(36), np.array([40.0, 80.0])
    homes, loads = np.full(36, -1, np.int32), np.zeros(2)
    place_vertices(graph.xadj, graph.adjncy, order, 0.5, 1.5, targets, homes, loads)
    slow, filled = {}, [0.0, 0.0]
    for v in order.tolist():
        near = graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]].tolist()
        costs = []
        for b in range(2):
            rise = ((filled[b] + len(near)) / targets[b]) ** 1.5 - (filled[b] / targets[b]) ** 1.5
            costs.append(0.5 * targets[b] * rise - sum(slow.get(w) == b for w in near))
        slow[v] = costs.index(min(costs))
        filled[slow[v]] += len(near)
    assert homes.tolist() == [slow[v] for v in range(36)]
    assert loads.tolist() == filled


def test_one_pass_over_vertices_follows_targets():
    found = split_with("bourse", EDGES, FREE).partition
    assert (np.abs(found.loads(EDGES) / TARGETS - 1) < 0.25).all()
