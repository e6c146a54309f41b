"""Greedy moves of boundary vertices that lower the cut and keep every contract."""

# mypy: ignore-errors
import numpy as np

from evener.jit_kernels import njit


@njit(cache=True, nogil=True)
def smooth(
    xadj, adjncy, adjwgt, weights, n_bytes, low, high, caps, passes, part, weight, size, memory,
    listed, boundary, n_boundary,
):  # fmt: skip
    """Move each boundary vertex to the touching block that saves most cut, if all limits allow it.

    Sweeps the boundary until nothing moves, `passes` times at most. Returns how many moved.
    """
    k = low.size
    weighted = adjwgt.size > 0
    touch = np.zeros(k, np.float64)
    moved = 0
    for _ in range(passes):
        before = moved
        i = 0
        while i < n_boundary:
            v = boundary[i]
            i += 1
            a = part[v]
            w, m = weights[v], n_bytes[v]
            if size[a] == 1 or weight[a] - w < low[a]:
                continue
            for e in range(xadj[v], xadj[v + 1]):
                touch[part[adjncy[e]]] += adjwgt[e] if weighted else 1.0
            best, best_touch = a, touch[a]
            for e in range(xadj[v], xadj[v + 1]):
                b = part[adjncy[e]]
                fits = weight[b] + w <= high[b] and memory[b] + m <= caps[b]
                if touch[b] > best_touch and fits:
                    best, best_touch = b, touch[b]
            for e in range(xadj[v], xadj[v + 1]):
                touch[part[adjncy[e]]] = 0.0
            if best == a:
                continue
            part[v] = best
            weight[a] -= w
            weight[best] += w
            memory[a] -= m
            memory[best] += m
            size[a] -= 1
            size[best] += 1
            moved += 1
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if not listed[u]:
                    listed[u] = True
                    boundary[n_boundary] = u
                    n_boundary += 1
        if moved == before:
            break
    return moved
