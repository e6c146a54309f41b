"""Interactions of elements of a fluid along edges, one by one or by staged blocks."""

# mypy: ignore-errors
from evener.jit import inner, njit

FLUX_VALUES = 4  # of a vertex: density, momentum in two directions, energy
GAS = 1.4  # ratio of specific heats, as of Rodinia's cfd


@inner(counted=False)
def flow(values, u, v, area):
    """Return the four values that flow from u to v: the mean of both ends' own fluxes.

    values (n, FLUX_VALUES). area: of the face between them.
    """
    mass, momentum, other, energy = 0.0, 0.0, 0.0, 0.0
    for end in (u, v):
        density, across = values[end, 0], values[end, 1]
        along, own = values[end, 2], values[end, 3]
        speed = across / density
        force = (GAS - 1.0) * (own - 0.5 * (across * across + along * along) / density)
        mass += across
        momentum += across * speed + force
        other += along * speed
        energy += (own + force) * speed
    half = 0.5 * area
    return half * mass, half * momentum, half * other, half * energy


@inner(counted=False)
def add_flow(values, u, v, area, sums):
    """Take what flows from u from its sums (n, FLUX_VALUES), and add it to those of v."""
    mass, momentum, other, energy = flow(values, u, v, area)
    sums[u, 0] -= mass
    sums[u, 1] -= momentum
    sums[u, 2] -= other
    sums[u, 3] -= energy
    sums[v, 0] += mass
    sums[v, 1] += momentum
    sums[v, 2] += other
    sums[v, 3] += energy


@njit(cache=True, nogil=True, counted=False)
def flow_along(schedule, tails, heads, areas, values, sums):
    """Add what flows along the edges to sums (n, FLUX_VALUES), in the order of a schedule (m,)."""
    for i in range(schedule.size):
        e = schedule[i]
        add_flow(values, tails[e], heads[e], areas[e], sums)


@njit(cache=True, nogil=True, counted=False)
def flow_in_blocks(starts, staged_starts, local, vertices, areas, values, room, own, sums):
    """Add what flows along the edges to sums, block by block; return how many vertices were staged.

    starts (k + 1,): of edges; local (2m,): tail and head of each, block by block, as are areas.
    room, own (vertices of the largest block, FLUX_VALUES).
    """
    loads = 0
    for b in range(starts.size - 1):
        first, count = staged_starts[b], staged_starts[b + 1] - staged_starts[b]
        for i in range(count):
            v = vertices[first + i]
            for which in range(FLUX_VALUES):
                room[i, which] = values[v, which]
                own[i, which] = 0.0
        for e in range(starts[b], starts[b + 1]):
            add_flow(room, local[2 * e], local[2 * e + 1], areas[e], own)
        for i in range(count):
            v = vertices[first + i]
            for which in range(FLUX_VALUES):
                sums[v, which] += own[i, which]
        loads += count
    return loads
