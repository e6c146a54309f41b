"""Takes balls of vertices out of a block, each grown beside the one before [Far88]_."""

# mypy: ignore-errors

from evener.jit import njit

# Vertices met one after another that do not fit, after which a ball is given up.
MISSES = 4096


@njit(cache=True, nogil=True)
def count_held(xadj, adjncy, part, members, held):
    """held[i] becomes the number of neighbours that members[i] has in its own block."""
    for i in range(members.size):
        v = members[i]
        held[i] = 0
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] == part[v]:
                held[i] += 1


@njit(cache=True, nogil=True)
def peel(
    xadj, adjncy, weights, n_bytes, part, giver, taker, least, most, most_bytes, most_vertices,
    order, places, queue, seen, stamp,
):  # fmt: skip
    """Move a ball of `giver` to `taker` until it weighs `least`; returns (vertices, weight, bytes).

    It never weighs more than `most` nor takes more than most_bytes [B] and most_vertices. order:
    the giver's vertices, those to start from first. places = (next in order, head and tail in
    queue of what the last ball touched), kept between calls; queue (members,), seen (n,) scratch.
    """
    taken, total, total_bytes, misses = 0, 0.0, 0.0, 0
    cursor, head, tail = places[0], places[1], places[2]
    # The new ball starts where the last one ended, so that the giver is eaten from one side.
    start = -1
    for i in range(head, tail):
        if part[queue[i]] == giver:
            start = queue[i]
            break
    head, tail = 0, 0
    scan = cursor
    while taken < most_vertices and total < least and misses < MISSES:
        if start < 0:
            if head < tail:
                v = queue[head]
                head += 1
            else:
                while scan < order.size and (
                    part[order[scan]] != giver or seen[order[scan]] == stamp
                ):
                    if scan == cursor and part[order[scan]] != giver:
                        cursor += 1
                    scan += 1
                if scan == order.size:
                    break
                v = order[scan]
                seen[v] = stamp
        else:
            v = start
            seen[v] = stamp
            start = -1
        w, m = weights[v], n_bytes[v]
        if total + w > most or total_bytes + m > most_bytes:
            misses += 1
            continue
        if w > 0.0:  # what weighs nothing helps nobody, but what lies behind it may
            misses = 0
            part[v] = taker
            taken += 1
            total += w
            total_bytes += m
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if part[u] == giver and seen[u] != stamp:
                seen[u] = stamp
                queue[tail] = u
                tail += 1
    places[0], places[1], places[2] = cursor, head, tail
    return taken, total, total_bytes


@njit(cache=True, nogil=True)
def smallest_that_fits(weights, n_bytes, part, members, giver, most, most_bytes):
    """The lightest vertex of `giver` within both limits, of equals the first; -1 without one."""
    best = -1
    for v in members:
        if part[v] == giver and weights[v] <= most and n_bytes[v] <= most_bytes:
            if best < 0 or weights[v] < weights[best]:
                best = v
    return best
