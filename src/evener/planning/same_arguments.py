"""Whether all ranks of a program ask for the same plan: else they would wait for each other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from evener.errors import UsageError
from evener.planning.options import PlanOptions
from evener.platforms.platform import Platform
from evener.running.comm import Comm
from evener.sliced.gathering import raised_everywhere

NOT_COMPARED = ("threads", "time_limit")  # options that change no blocks of ours


def refuse_different(comm: Comm, platform: Platform, options: PlanOptions) -> None:
    """Raise UsageError on all ranks where one passes another machine or option than rank 0 does.

    All ranks call.
    """
    digest = hashlib.sha256(repr(_plain(platform)).encode()).hexdigest()
    names = [one.name for one in fields(options) if one.name not in NOT_COMPARED]
    own = {name: repr(_plain(getattr(options, name))) for name in names}
    everyone = comm.allgather((digest, own))
    machine, first = everyone[0]
    with raised_everywhere():
        for rank, (other, chosen) in enumerate(everyone):
            if other != machine:
                _refuse(f"rank {rank} passes another machine than rank 0")
            for name, value in chosen.items():
                if value != first[name]:
                    _refuse(f"rank {rank} passes {name}={value}, rank 0 {name}={first[name]}")


def _refuse(what: str) -> None:
    raise UsageError(what, hint="All ranks pass the same machine and the same options.")


def _plain(value: Any) -> Any:
    """Return what a value holds as tuples of numbers and texts, which print alike where equal."""
    if is_dataclass(value):
        held = [(one.name, _plain(getattr(value, one.name))) for one in fields(value)]
        return (type(value).__name__, *held)
    if isinstance(value, Mapping):
        return tuple((key, _plain(held)) for key, held in value.items())
    if isinstance(value, list | tuple):
        return tuple(_plain(one) for one in value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value
