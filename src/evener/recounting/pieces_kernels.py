"""Connected pieces of blocks, by joining the ends of every edge within a block."""

# mypy: ignore-errors
from evener.jit_kernels import njit


@njit(cache=True, nogil=True)
def count_pieces(xadj, adjncy, part, parent, pieces):
    """Add to pieces (k,), zeros, the connected pieces of each block; parent (n,) is overwritten.

    parent[v] leads towards the smallest vertex known to be joined to v; O(m log n).
    """
    for v in range(part.size):
        parent[v] = v
        pieces[part[v]] += 1
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if u >= v:
                break  # lists are in ascending order: the other end of the rest comes later
            if part[u] != part[v]:
                continue
            a, b = int(u), int(v)
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a != b:
                pieces[part[v]] -= 1
                if a < b:
                    parent[b] = a
                else:
                    parent[a] = b
