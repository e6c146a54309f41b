"""Whether a LocalGraph holds together: kernels read it without looking where its arrays end."""

from __future__ import annotations

from weakref import WeakSet

import numpy as np

from evener.errors import InputError
from evener.running.local_graphs import LocalArcs, LocalGraph

_checked: WeakSet[LocalGraph] = WeakSet()


def check_part(local: LocalGraph) -> None:
    """Raise InputError for a part whose arrays do not fit together; looks at each part once."""
    if local in _checked:
        return
    fits = {
        "n_interior, n_owned and numbers": 0 <= local.n_interior <= local.n_owned <= local.n_local,
        "degrees": local.k == 1 or local.degrees.shape == local.numbers.shape,
        "ghost_starts": local.ghost_starts.shape == (local.k + 1,)
        and local.ghost_starts[-1] == local.n_local - local.n_owned,
        "rank": 0 <= local.rank < local.k,
    }
    for name in ("out", "into"):
        arcs = getattr(local, name)
        if arcs is not None and (name == "out" or arcs is not local.out):
            fits |= _arcs_fit(name, arcs, local)
    wrong = [name for name, is_right in fits.items() if not is_right]
    if wrong:
        raise InputError(
            f"the part of device {local.rank} does not hold together: {wrong[0]}",
            hint="ev.distribute makes parts that do.",
        )
    _checked.add(local)


def _arcs_fit(name: str, arcs: LocalArcs, local: LocalGraph) -> dict[str, bool]:
    """Return by name each check of one list of arcs, and whether it passes."""
    offsets, ends, weights = arcs
    size, count = offsets.size, ends.size
    whole = offsets.shape == (local.n_owned + 1,) and offsets[0] == 0 and offsets[-1] == count
    return {
        f"types of {name}": offsets.dtype.kind == "u" and ends.dtype == np.uint32,
        f"offsets of {name}": bool(whole and (size < 2 or (offsets[1:] >= offsets[:-1]).all())),
        f"ends of {name}": count == 0 or int(ends.max()) < local.n_local,
        f"weights of {name}": weights is None or weights.shape == ends.shape,
    }
