"""Orders of the clones at each vertex, in which paths and rings of split-and-connect join them."""

from __future__ import annotations

from evener.errors import UsageError, one_of
from evener.graphs.edge_list import EdgeList, Incidence
from evener.graphs.hilbert import hilbert_keys
from evener.plans.partition import Contract
from evener.splitting.split_and_connect import order_by
from evener.splitting.vertex_blocks import blocks_of_vertices

ORDERS = ("neighbour", "degree", "block", "coordinate")


def incidence_in(order: str, edges: EdgeList, contract: Contract, seed: int) -> Incidence:
    """Return the edges at each vertex by what the vertex at the other end has, then its number.

    order: "neighbour": its number alone; "degree": how many edges it has, fewest first; "block":
    its block in a partition of vertices that weigh as much as they have edges; "coordinate": its
    place along a Hilbert curve. Raises UsageError for others, and without coordinates.
    """
    one_of("order", order, ORDERS)
    if order == "neighbour" or (order == "block" and contract.k > edges.touched):
        return edges.incidence
    if order == "degree":
        return edges.incidence_by(order_by(edges.degrees))
    if order == "block":
        return edges.incidence_by(order_by(blocks_of_vertices(edges, contract, seed)))
    if edges.coords is None:
        raise UsageError("an order by coordinates needs coordinates, and these edges have none")
    return edges.incidence_by(order_by(hilbert_keys(edges.coords)))
