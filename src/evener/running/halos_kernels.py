"""Kernels of halos: pack values of some ghosts into the messages to their owners."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit

HEAD = 8  # bytes at the beginning of a message: its length
INDEX = 4  # bytes of a local number; values follow the numbers, from a multiple of eight on


@inner()
def owner_of(ghost, starts):
    """Return the index of a ghost's owner: the last one whose ghosts start at or before it."""
    low, high = 0, starts.size
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= ghost:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def pack(ghosts, values, starts, begins, lengths, messages, numbers, places):
    """Write ghosts' numbers and values into the messages to their owners.

    ghosts (s,): local numbers; values (s,): their values, as unsigned integers of the same size.
    starts (q,): the first local number of each owner's ghosts, ascending. begins (q,): where each
    message begins [B], a multiple of eight. messages, numbers, places: the memory of all messages,
    viewed as arrays of uint64, of uint32 and of the type of values. A message contains its own
    length [B], the distance of each number from the owner's start, and the values. lengths (q,):
    set to the number of values in each message.
    """
    item = values.itemsize
    lengths[:] = 0
    for i in range(ghosts.size):
        lengths[owner_of(np.int64(ghosts[i]), starts)] += 1
    ends = lengths.copy()
    lengths[:] = 0
    for i in range(ghosts.size):
        ghost = np.int64(ghosts[i])
        q = owner_of(ghost, starts)
        first = begins[q] + HEAD
        numbers[first // INDEX + lengths[q]] = ghost - starts[q]
        places[(first + padded(ends[q])) // item + lengths[q]] = values[i]
        lengths[q] += 1
    for q in range(starts.size):
        messages[begins[q] // HEAD] = HEAD + padded(lengths[q]) + item * lengths[q]


@inner()
def padded(count):
    """Return the bytes of `count` numbers, rounded up to a multiple of eight."""
    return (count * INDEX + 7) // 8 * 8


@njit(cache=True, nogil=True)
def chosen(listed, which, found):
    """Set found (s,) to the entries of `listed` at the indices `which` (s,)."""
    for i in range(which.size):
        found[i] = listed[which[i]]
