"""Kernels that divide edges among devices: the vertices of each device, and lists of its arcs."""

# mypy: ignore-errors

from evener.jit import njit


@njit(cache=True, nogil=True)
def touch(device, edges, tails, heads, counts, most, master, touched):
    """List the vertices of a device's edges; make the device their master if it has most edges.

    edges: numbers of its edges. counts (n,): zeros, before and after. most (n,): number of edges of
    each vertex on its master's device; master (n,): the device, or -1. touched: set to the
    vertices, in the order of their first occurrence. Returns their number.
    """
    count = 0
    for e in edges:
        for v in (tails[e], heads[e]):
            if counts[v] == 0:
                touched[count] = v
                count += 1
            counts[v] += 1
    for i in range(count):
        v = touched[i]
        if counts[v] > most[v]:
            most[v] = counts[v]
            master[v] = device
        counts[v] = 0
    return count


@njit(cache=True, nogil=True)
def list_offsets(edges, tails, heads, both_ways, position, offsets):
    """Set offsets (n_local + 1,) to where the arcs of each local vertex begin.

    edges: numbers of the device's edges. both_ways: whether an edge stands for two arcs. position
    (n,): the local number of each vertex of these edges. offsets: must be zeros.
    """
    for e in edges:
        offsets[position[tails[e]] + 1] += 1
        if both_ways:
            offsets[position[heads[e]] + 1] += 1
    for u in range(offsets.size - 1):
        offsets[u + 1] += offsets[u]


@njit(cache=True, nogil=True)
def list_arcs(edges, tails, heads, both_ways, position, weights, free, ends, own):
    """Set ends to the local numbers at the other ends of each local vertex's arcs, by edge number.

    Arguments are those of list_offsets. weights (m,): of all edges, or empty if no weights are
    wanted. free (n_local,): where the arcs of each vertex begin; changed. own: set to the arcs'
    weights.
    """
    for e in edges:
        u, v = position[tails[e]], position[heads[e]]
        i = free[u]
        free[u] = i + 1
        ends[i] = v
        if weights.size:
            own[i] = weights[e]
        if both_ways:
            i = free[v]
            free[v] = i + 1
            ends[i] = u
            if weights.size:
                own[i] = weights[e]
