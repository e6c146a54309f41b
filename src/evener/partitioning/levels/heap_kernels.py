"""Two kinds of binary heaps of vertices, with the largest key first.

The first kind consists of three parallel arrays, and its entries cannot be changed; among equal
keys, the entry pushed first leaves first. The second kind, IndexedHeap, stores the position of each
vertex, so that keys can be changed. The caller stores the size of a heap; functions that add or
remove an entry return the new size.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner


@inner()
def before(keys, ages, i, j):
    """Return whether entry i leaves the heap before entry j."""
    return keys[i] > keys[j] or (keys[i] == keys[j] and ages[i] < ages[j])


@inner()
def swap(keys, ages, items, i, j):
    """Swap two entries."""
    keys[i], keys[j] = keys[j], keys[i]
    ages[i], ages[j] = ages[j], ages[i]
    items[i], items[j] = items[j], items[i]


@inner()
def push_aged(keys, ages, items, size, key, age, item):
    """Add an entry; return the new size."""
    keys[size], ages[size], items[size] = key, age, item
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if not before(keys, ages, i, parent):
            break
        swap(keys, ages, items, i, parent)
        i = parent
    return size + 1


@inner()
def with_room(keys, ages, items, size):
    """Return the arrays, with doubled length if they are full."""
    if size < keys.size:
        return keys, ages, items
    return _doubled(keys), _doubled(ages), _doubled(items)


@inner()
def _doubled(values):
    longer = np.empty(2 * values.size, values.dtype)
    copy_to(values, longer)
    return longer


@inner()
def drop_first(keys, ages, items, size):
    """Remove the first entry (index 0); return the new size."""
    size -= 1
    swap(keys, ages, items, 0, size)
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and before(keys, ages, child + 1, child):
            child += 1
        if not before(keys, ages, child, i):
            break
        swap(keys, ages, items, i, child)
        i = child
    return size


ABSENT = -1  # place of a vertex that is in no heap


class IndexedHeap(NamedTuple):
    """Entries: items and keys (room,), the largest key first; place (n,): the index of a vertex."""

    items: np.ndarray
    keys: np.ndarray
    place: np.ndarray


class SideHeaps(NamedTuple):
    """Two heaps, for the vertices on side 0 and on side 1: items, keys (2, room), size (2,) int64.

    place (n,): the index of a vertex in the heap of its side.
    """

    items: np.ndarray
    keys: np.ndarray
    size: np.ndarray
    place: np.ndarray


@inner(error_model="numpy", counted=False)
def sift_up(heap, i):
    """Move entry i toward the top until the heap is ordered."""
    items, keys, place = heap
    v, key = items[i], keys[i]
    while i > 0:
        parent = (i - 1) >> 1
        if keys[parent] >= key:
            break
        items[i], keys[i] = items[parent], keys[parent]
        place[items[i]] = i
        i = parent
    items[i], keys[i] = v, key
    place[v] = i


@inner(error_model="numpy", counted=False)
def sift_down(heap, i, size):
    """Move entry i away from the top until the heap is ordered."""
    items, keys, place = heap
    v, key = items[i], keys[i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        items[i], keys[i] = items[child], keys[child]
        place[items[i]] = i
        i = child
    items[i], keys[i] = v, key
    place[v] = i


@inner(error_model="numpy", counted=False)
def push(heap, size, v, key):
    """Add vertex v; return the new size."""
    heap.items[size], heap.keys[size] = v, key
    sift_up(heap, size)
    return size + 1


@inner(error_model="numpy", counted=False)
def drop(heap, size):
    """Remove the top entry; return the new size."""
    items, keys, place = heap
    place[items[0]] = ABSENT
    size -= 1
    if size > 0:
        items[0], keys[0] = items[size], keys[size]
        sift_down(heap, 0, size)
    return size


@inner(error_model="numpy", counted=False)
def sink_top(heap, size, key):
    """Lower the key of the top entry to `key` if another entry would then come first.

    Returns whether it was lowered.
    """
    if size < 2:
        return False
    second = heap.keys[1]
    if size > 2 and heap.keys[2] > second:
        second = heap.keys[2]
    if key >= second:
        return False
    heap.keys[0] = key
    sift_down(heap, 0, size)
    return True


@inner(error_model="numpy", counted=False)
def clear(heap, size):
    """Remove all vertices from the heap."""
    for i in range(size):
        heap.place[heap.items[i]] = ABSENT


@inner(error_model="numpy", counted=False)
def _heap_of(heaps, s):
    """Return the heap of side s.

    Its arrays are not reference-counted, so only this file may call this.
    """
    return IndexedHeap(heaps.items[s], heaps.keys[s], heaps.place)


@inner(error_model="numpy", counted=False)
def push_to(heaps, s, v, key):
    """Add vertex v to the heap of side s."""
    heaps.size[s] = push(_heap_of(heaps, s), heaps.size[s], v, key)


@inner(error_model="numpy", counted=False)
def drop_top(heaps, s, place):
    """Remove the first vertex of side s, and set its place to `place` (negative).

    Returns the vertex.
    """
    v = heaps.items[s, 0]
    heaps.size[s] = drop(_heap_of(heaps, s), heaps.size[s])
    heaps.place[v] = place
    return v


@inner(error_model="numpy", counted=False)
def raise_key(heaps, s, i, key):
    """Raise the key of entry i of side s, or leave it unchanged."""
    heaps.keys[s, i] = key
    sift_up(_heap_of(heaps, s), i)


@inner(error_model="numpy", counted=False)
def lower_key(heaps, s, i, key):
    """Lower the key of entry i of side s, or leave it unchanged."""
    heaps.keys[s, i] = key
    sift_down(_heap_of(heaps, s), i, heaps.size[s])
