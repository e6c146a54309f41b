"""Takes the graph of one group's vertices out of the whole, in time linear in its edges."""

# mypy: ignore-errors

from evener.jit_kernels import njit


@njit(cache=True, nogil=True)
def take_members(xadj, adjncy, adjwgt, part, members, rank, sub_xadj, sub_adjncy, sub_adjwgt):
    """The graph of `members`, all vertices of one number in `part`; returns its entries.

    rank (n,): the number of every member among them. adjwgt may be empty: all 1.
    """
    weighted = adjwgt.size > 0
    used = 0
    sub_xadj[0] = 0
    for i in range(members.size):
        v = members[i]
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if part[u] == part[v]:
                sub_adjncy[used] = rank[u]
                if weighted:
                    sub_adjwgt[used] = adjwgt[e]
                used += 1
        sub_xadj[i + 1] = used
    return used
