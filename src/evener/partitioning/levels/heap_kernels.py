"""A binary heap of (key, vertex): the largest key first, of equals the one pushed first.

Three parallel arrays and a size; the caller keeps them large enough, see with_room.
"""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner


@inner()
def before(keys, ages, i, j):
    """Whether entry i leaves the heap before entry j."""
    return keys[i] > keys[j] or (keys[i] == keys[j] and ages[i] < ages[j])


@inner()
def swap(keys, ages, items, i, j):
    """Exchange two entries."""
    keys[i], keys[j] = keys[j], keys[i]
    ages[i], ages[j] = ages[j], ages[i]
    items[i], items[j] = items[j], items[i]


@inner()
def push(keys, ages, items, size, key, age, item):
    """Add an entry; returns the new size."""
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
    """Return the arrays, twice as long where they are full."""
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
    """Remove the first entry (index 0); returns the new size."""
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
