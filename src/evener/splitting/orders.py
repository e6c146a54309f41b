"""Orders of the clones of a vertex, in which split-and-connect connects them to paths or rings."""

from __future__ import annotations

from evener.errors import UsageError, one_of
from evener.graphs.edge_list import EdgeList, Incidence
from evener.graphs.hilbert import hilbert_keys
from evener.plans.partition import Contract
from evener.splitting.split_and_connect import order_by
from evener.splitting.vertex_blocks import blocks_of_vertices

ORDERS = ("neighbour", "degree", "block", "coordinate")


def incidence_in(order: str, edges: EdgeList, contract: Contract, seed: int) -> Incidence:
    """Return the edges at each vertex, sorted by a property of the vertex at the other end.

    order: "neighbour": its number; "degree": its number of edges, ascending; "block": its block in
    a vertex partition with degrees as weights; "coordinate": its position on a Hilbert curve. Ties
    are broken by number. If there are fewer vertices with edges than blocks, "block" is the same as
    "neighbour". Raises UsageError for other orders, and for "coordinate" if there are no
    coordinates.
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
