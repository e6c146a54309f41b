"""Counts triangles by the threads of a device; vertices are identified by rank.

Ranks order the vertices of a device, including ghosts, in the same way on all devices. The list of
a vertex contains the ranks of its neighbours that precede it: so a triangle is found once, at its
last vertex.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit
from evener.running.engine.atomics_kernels import fetch_add, first_of

ONE = np.uint64(1)
# Vertices that a thread takes at a time: of the largest lists some 0.1 ms of work.
VERTICES_OF_PIECE = 64


@njit(cache=True, nogil=True, counted=False)
def rank_by_degree(degrees, by_number, places, order):
    """Set order (n_local,): vertices by descending degree; equal degrees in the order of by_number.

    places (largest degree + 1,) int64: zeros.
    """
    for u in range(np.uint64(degrees.size)):
        places[np.uint64(degrees[u])] += 1
    before = 0
    for d in range(places.size - 1, -1, -1):
        places[d], before = before, before + places[d]
    for i in range(np.uint64(by_number.size)):
        u = np.uint64(by_number[i])
        place = places[np.uint64(degrees[u])]
        places[np.uint64(degrees[u])] = place + 1
        order[np.uint64(place)] = u


@njit(cache=True, nogil=True, counted=False)
def find_prefixes(thread, threads, chunks, offsets, ends, places, unordered):
    """Set places (2, m) to where the neighbours of lower number of each vertex begin and end.

    unordered (threads,): set to 1 if any of these comes after a neighbour of higher number. chunks:
    vertices at which pieces of equally many arcs begin, and the end.
    """
    first = chunks[first_of(thread, threads, chunks.size - 1)]
    last = chunks[first_of(thread + 1, threads, chunks.size - 1)]
    is_unordered = False
    for u in range(np.uint64(first), np.uint64(last)):
        begin, found = np.uint64(offsets[u]), np.uint64(0)
        for j in range(begin, np.uint64(offsets[u + ONE])):
            is_lower = np.uint64(ends[j] < u)
            is_unordered |= is_lower > 0 and found < j - begin
            found += is_lower
        places[0, u], places[1, u] = begin, begin + found
    unordered[thread] = is_unordered


@njit(cache=True, nogil=True, counted=False)
def count_lower(thread, threads, chunks, offsets, ends, ranks, lengths):
    """Set lengths, by rank, to the number of neighbours that precede each own vertex.

    chunks: vertices at which pieces of equally many arcs begin, and the end.
    """
    first = chunks[first_of(thread, threads, chunks.size - 1)]
    last = chunks[first_of(thread + 1, threads, chunks.size - 1)]
    for u in range(np.uint64(first), np.uint64(last)):
        own, found = ranks[u], np.int64(0)
        for j in range(np.uint64(offsets[u]), np.uint64(offsets[u + ONE])):
            found += ranks[ends[j]] < own
        lengths[own] = found


@njit(cache=True, nogil=True, counted=False)
def fill_lower(thread, threads, chunks, offsets, ends, ranks, places, lists):
    """Write the lists of own vertices. places (2, n_local): by rank, where they begin and end."""
    first = chunks[first_of(thread, threads, chunks.size - 1)]
    last = chunks[first_of(thread + 1, threads, chunks.size - 1)]
    for u in range(np.uint64(first), np.uint64(last)):
        own = ranks[u]
        place, end = np.uint64(places[0, own]), np.uint64(places[1, own])
        j = np.uint64(offsets[u])
        while place < end:  # no branch on the rank, which would be mispredicted
            rank = ranks[ends[j]]
            lists[place] = rank
            place += np.uint64(rank < own)
            j += ONE


@njit(cache=True, nogil=True, counted=False)
def add_lengths(places, ranks, vertices, ends):
    """Set ends (s + 1,) to the cumulative number of entries of the lists of the vertices (s,)."""
    entries = np.int64(0)
    for i in range(np.uint64(vertices.size)):
        r = np.uint64(ranks[vertices[i]])
        entries += places[1, r] - places[0, r]
        ends[i + ONE] = entries


@njit(cache=True, nogil=True, counted=False)
def put_lists(vertices, places, ranks, by_rank, lists, numbers, found):
    """Write to found (e,) the lists of these vertices, by global numbers."""
    i = np.uint64(0)
    for u in vertices:
        r = np.uint64(ranks[u])
        for j in range(np.uint64(places[0, r]), np.uint64(places[1, r])):
            found[i] = numbers[by_rank[lists[j]]]
            i += ONE


@njit(cache=True, nogil=True, counted=False)
def take_lists(lengths, received, known, numbers, ranks, ghosts, first, places, lists):
    """Write the lists of ghosts (g,), by ranks, to lists from `first` on; return their end.

    lengths (g,), received (e,): the lists by global numbers; entries that are not local vertices
    are omitted. known (n_local,): vertices by global number. ghosts: their ranks. places: set to
    the lists' begins and ends.
    """
    end, j = np.int64(first), np.uint64(0)
    for i in range(np.uint64(lengths.size)):
        r = np.uint64(ghosts[i])
        places[0, r] = end
        for _ in range(np.uint64(lengths[i])):
            number = np.int64(received[j])
            low, high = np.int64(0), np.int64(known.size)
            while low < high:
                middle = (low + high) >> 1
                if numbers[known[middle]] < number:
                    low = middle + 1
                else:
                    high = middle
            if low < known.size and numbers[known[low]] == number:
                lists[end] = ranks[known[low]]
                end += 1
            j += ONE
        places[1, r] = end
    return end


@njit(cache=True, nogil=True, counted=False)
def count_triangles(
    thread,
    threads,  # noqa: ARG001
    tickets,
    own_ranks,
    places,
    lists,
    marks,
    counts,
    looked_at,
):
    """Add to counts (threads, n_local) the triangles found at own vertices, by rank of each corner.

    marks (threads, n_local) uint8: zeros. tickets (1,): number of pieces taken. looked_at
    (threads,): set to the number of list entries read.
    """
    begins, stops = places[0], places[1]
    marked, found = marks[thread], counts[thread]
    size, entries = np.int64(own_ranks.size), np.int64(0)
    while True:
        piece = fetch_add(tickets, np.uint64(0), 1)
        if piece * VERTICES_OF_PIECE >= size:
            break
        last = min(size, (piece + 1) * VERTICES_OF_PIECE)
        for i in range(np.uint64(piece * VERTICES_OF_PIECE), np.uint64(last)):
            r = np.uint64(own_ranks[i])
            first, stop = np.uint64(begins[r]), np.uint64(stops[r])
            if stop - first < np.uint64(2):
                continue
            for j in range(first, stop):
                marked[lists[j]] = 1
            at_r = np.int64(0)
            for j in range(first, stop):
                v = np.uint64(lists[j])
                at_v = np.int64(0)
                for k in range(np.uint64(begins[v]), np.uint64(stops[v])):
                    w = np.uint64(lists[k])
                    is_corner = np.int64(marked[w])
                    at_v += is_corner
                    found[w] += is_corner
                found[v] += at_v
                at_r += at_v
                entries += np.int64(stops[v]) - np.int64(begins[v])
            found[r] += at_r
            for j in range(first, stop):
                marked[lists[j]] = 0
    looked_at[thread] = entries


@njit(cache=True, nogil=True, counted=False)
def by_vertices(counts, ranks, found):
    """Set found (n_local,): the counts by vertex, given counts by rank."""
    for u in range(np.uint64(ranks.size)):
        found[u] = counts[np.uint64(ranks[u])]
