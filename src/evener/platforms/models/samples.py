"""Sample: one measured point of a device's speed; DeviceSpeeds: all samples of one device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evener.errors import InputError
from evener.wording import brief

STATUSES = ("ok", "slower")
KINDS = (
    "constant",
    "piecewise",
    "shaped",
    "akima",
    "time",
)  # kinds of models: see evener.platforms.models.fitting.fit_model


@dataclass(frozen=True, slots=True)
class Sample:
    """The time that a device took for a load.

    load [units] and seconds [s], the mean over `repetitions`, are finite and positive. half_width
    [s]: of the mean's confidence interval; 0 if not known. status: "ok"; or "slower": stopped after
    `seconds`, because the load takes longer. Raises InputError for anything else.
    """

    load: float
    seconds: float
    half_width: float = 0.0
    repetitions: int = 1
    status: str = "ok"

    def __post_init__(self) -> None:
        for key in ("load", "seconds", "half_width"):
            object.__setattr__(self, key, _number(getattr(self, key), key))
        if self.load <= 0:
            raise InputError(f"the load of a sample must be above zero, not {self.load:g}")
        if self.seconds <= 0:
            raise InputError(f"the seconds of a sample must be above zero, not {self.seconds:g}")
        if self.half_width < 0:
            raise InputError(f"a half_width must not be negative, not {self.half_width:g}")
        if not 0 < self.load / self.seconds < math.inf:
            raise InputError(
                f"{self.load:g} units in {self.seconds:g} s is a speed outside the range of a float"
            )
        count = self.repetitions
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            raise InputError(f"repetitions must be a whole number above zero, not {count!r}")
        object.__setattr__(self, "repetitions", int(count))
        if self.status not in STATUSES:
            raise InputError(f"status must be one of {', '.join(STATUSES)}, not {self.status!r}")

    @property
    def speed(self) -> float:
        """Speed [units/s]; if the status is "slower", an upper bound of it."""
        return self.load / self.seconds


@dataclass(frozen=True, slots=True)
class DeviceSpeeds:
    """The samples of one device and the kind of model to be fitted to them.

    capacity [units]: the largest load the device can take. model: one of KINDS. fixed_seconds [s]:
    the device's cost of taking part in an iteration, in addition to its work; not included in the
    samples. notes: texts and numbers that a file stores for people. A device that was never
    measured has no samples. Raises InputError for an empty or padded name, a capacity that is not
    positive, an unknown kind, negative fixed seconds, and notes of other types.
    """

    name: str
    samples: tuple[Sample, ...] = ()
    capacity: float = math.inf
    model: str = "piecewise"
    notes: Mapping[str, Any] = field(default_factory=dict)
    fixed_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip():
            raise InputError(f"a device name must not be empty or padded, unlike {self.name!r}")
        object.__setattr__(self, "samples", tuple(self.samples))
        object.__setattr__(self, "capacity", checked_capacity(self.capacity))
        if self.model not in KINDS:
            raise InputError(
                f"model of {self.name!r} must be one of {', '.join(KINDS)}, not {self.model!r}"
            )
        fixed = _number(self.fixed_seconds, f"fixed_seconds of {self.name!r}")
        if fixed < 0:
            raise InputError(
                f"fixed_seconds of {self.name!r} must not be negative, but is {fixed:g}"
            )
        object.__setattr__(self, "fixed_seconds", fixed)
        for key, value in self.notes.items():
            fine = isinstance(value, str | int) or (
                isinstance(value, float) and math.isfinite(value)
            )
            if not fine:
                raise InputError(
                    f"note {key!r} of {self.name!r} is neither text nor a finite number"
                )

    def __repr__(self) -> str:
        return brief(self)


def checked_capacity(capacity: float) -> float:
    """Return a capacity [units], possibly infinite; raise InputError unless it is positive."""
    number = _number(capacity, "capacity", finite=False)
    if number <= 0:
        raise InputError(f"a capacity must be above zero, not {number:g}")
    return number


def _number(value: Any, what: str, *, finite: bool = True) -> float:
    try:
        number = math.nan if isinstance(value, str | bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number) or (finite and math.isinf(number)):
        raise InputError(f"{what} must be a {'finite ' if finite else ''}number, not {value!r}")
    return number
