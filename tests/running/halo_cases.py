"""What halos do, compared with global arrays: the same on threads and on processes of MPI."""

import numpy as np

from evener.running.halos import Halo
from evener.running.mpi_comm import comm_of

TYPES = ["f8", "f4", "i8", "u4", "i2", "?", "c16", "f2", "M8[s]", "f8,u2", "S5"]
OPS = [
    ("sum", "f8"), ("sum", "i4"), ("sum", "c16"), ("min", "f4"), ("max", "i8"), ("min", "u1"),
    ("or", "u8"), ("or", "?"),
]  # fmt: skip


def values_of(n, dtype, tail=(), seed=5):
    """Some value of a type for each vertex."""
    drawn = np.random.default_rng(seed).integers(0, 99, (n, *tail))
    if np.dtype(dtype).kind == "V":
        made = np.zeros(drawn.shape, dtype)
        for name in made.dtype.names:
            made[name] = drawn
        return made
    return drawn.astype(dtype)


def exchanged(comm, local, whole):
    """Whether all ghosts have their values after exchanges of every kind."""
    halo, mine = Halo.of(comm, local), whole[local.numbers]
    x = mine.copy()
    for turn in range(4):
        if turn == 1:
            x = mine.copy()  # from its second exchange on ghosts are received in place
        x[local.n_owned :] = np.zeros(1, whole.dtype)[0]
        halo.exchange(x, rest=1e-5 if turn == 3 else 0.0)
        if not np.array_equal(x, mine):
            return False
    return True


def reduced(comm, parts, op, dtype, tail=()):
    """Whether own values are those combined by rising rank, one by one; bits and all."""
    ufunc = {"sum": np.add, "min": np.minimum, "max": np.maximum, "or": np.bitwise_or}[op]
    held = [values_of(part.n_local, dtype, tail, seed=part.rank) for part in parts]
    if dtype == "f8":
        held = [values / 7 for values in held]  # sums depend on their order
    own = comm_of(comm).rank
    local = parts[own]
    expected = held[own].copy()
    for q, sent in sorted(local.sends.items()):
        first, last = parts[q].receives[own]
        expected[sent] = ufunc(expected[sent], held[q][first:last])
    halo, x = Halo.of(comm, local), held[own]
    before = x.copy()
    halo.reduce(x, op)
    ghosts = slice(local.n_owned, None)
    return np.array_equal(x, expected) and np.array_equal(x[ghosts], before[ghosts])


def some_to_owners(comm, parts, dtype, seed=0):
    """Whether owners get the values of ghosts drawn at random, anew each time, none at first."""
    own = comm_of(comm).rank
    local, halo = parts[own], Halo.of(comm, parts[own])
    rng = [np.random.default_rng([seed, part.rank]) for part in parts]
    for turn in range(4):
        drawn = []  # of every part: ghosts in any order, as all ranks know them
        for part, draw in zip(parts, rng, strict=True):
            chosen = draw.permutation(np.arange(part.n_owned, part.n_local))
            drawn.append(chosen[: draw.integers(chosen.size + 1) if turn else 0].astype(np.uint32))
        values = [values_of(part.n_local, dtype, seed=part.rank) for part in parts]
        expected = [
            (local.numbers[t].tolist(), values[q][g].tolist())
            for q, t, g in _that_come(parts, own, drawn)
        ]
        found = [
            (local.numbers[targets].tolist(), came.tolist())
            for targets, came in halo.to_owners(drawn[own], values[own][drawn[own]])
        ]
        if found != expected:
            return False
    return True


def _that_come(parts, own, drawn):
    """Yield (rank, own vertices here, its ghosts), for each rank that sends any, rising."""
    for q, part in enumerate(parts):
        first, last = part.receives.get(own, (0, 0))
        ghosts = drawn[q][(drawn[q] >= first) & (drawn[q] < last)]
        if ghosts.size:
            yield q, parts[own].sends[q][ghosts - first], ghosts
