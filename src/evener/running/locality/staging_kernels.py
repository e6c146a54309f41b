"""Lists the vertices that each block of edges stages, numbers them, and multiplies by blocks."""

# mypy: ignore-errors
from evener.jit import njit

FLUX_VALUES = 4  # of a vertex: density, momentum in two directions, energy
GAS = 1.4  # ratio of specific heats, as of Rodinia's cfd


@njit(cache=True, nogil=True, counted=False)
def list_staged(starts, ends, block_of, place_of, staged, staged_starts, local):
    """Fill in the vertices of each block's edges, by first use, and each edge's index among them.

    starts (k + 1,): where the edges of a block begin in ends (m,). block_of (n,) int32: -1 on
    entry; place_of (n,) int32. staged (m,) int32: filled as far as needed; staged_starts (k + 1,);
    local (m,) uint16.
    """
    count = 0
    for b in range(starts.size - 1):
        staged_starts[b] = count
        for e in range(starts[b], starts[b + 1]):
            v = ends[e]
            if block_of[v] != b:
                block_of[v] = b
                place_of[v] = count - staged_starts[b]
                staged[count] = v
                count += 1
            local[e] = place_of[v]
    staged_starts[starts.size - 1] = count


@njit(cache=True, nogil=True, counted=False)
def multiply_blocks(first, last, blocks, weights, x, room, partial):
    """Set partial (outputs staged,) to the sums of blocks first to last - 1; return values staged.

    blocks: starts of edges, local outputs and inputs of edges, starts of outputs, staged inputs and
    their starts. room: scratch for the staged values of x of the largest block.
    """
    starts, outputs, inputs, output_starts, staged, input_starts = blocks
    loads = 0
    for b in range(first, last):
        begin, count = input_starts[b], input_starts[b + 1] - input_starts[b]
        for i in range(count):
            room[i] = x[staged[begin + i]]
        own = partial[output_starts[b] : output_starts[b + 1]]
        own[:] = 0.0
        for e in range(starts[b], starts[b + 1]):
            own[outputs[e]] += weights[e] * room[inputs[e]]
        loads += count + own.size
    return loads


@njit(cache=True, nogil=True, counted=False)
def combine(offsets, places, partial, y):
    """Set y (n,) to the sums of its parts, in the order of blocks: partial[places[offsets...]]."""
    for v in range(y.size):
        total = 0.0
        for i in range(offsets[v], offsets[v + 1]):
            total += partial[places[i]]
        y[v] = total
