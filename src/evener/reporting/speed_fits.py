"""Every model that samples admit, side by side: what each drops and where they disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.models import Piecewise, SpeedModel, fit_device, pooled
from evener.samples import KINDS, DeviceSpeeds, Sample

CURVES = ("piecewise", "shaped", "akima")
POINTS = 400  # at which models are compared, beside the samples' own loads
MARGIN = 1.3  # how far beyond the samples they are shown


class Disagreement(NamedTuple):
    """The load [units] where models differ most: highest speed / lowest - 1, and whose they are."""

    load: float
    share: float
    lowest: str
    highest: str


@dataclass(frozen=True, eq=False)
class DeviceFits:
    """A device's samples and all models fitted to them."""

    device: DeviceSpeeds

    @cached_property
    def models(self) -> Mapping[str, SpeedModel]:
        """The model of each kind. Raises InputError where there are no samples."""
        return {kind: fit_device(self.device, kind) for kind in KINDS}

    @property
    def chosen(self) -> SpeedModel:
        """The model of the kind that the device asks for."""
        return self.models[self.device.model]

    @property
    def dropped(self) -> tuple[Sample, ...]:
        """Samples that the rule of shape takes out."""
        shaped = self.models["shaped"]
        return shaped.dropped if isinstance(shaped, Piecewise) else ()

    @cached_property
    def loads(self) -> FloatArray:
        """Loads [units] to compare at: those of the samples, and many between and a bit beyond."""
        own = np.unique([sample.load for sample in self.device.samples])
        high = min(own[-1] * MARGIN, self.device.capacity)
        grid = np.geomspace(min(own[0] / MARGIN, high), high, POINTS)
        return np.union1d(grid, own[own <= high])

    @cached_property
    def speeds(self) -> Mapping[str, FloatArray]:
        """Speeds [units/s] of each kind of model at `loads`."""
        return {kind: model.speed(self.loads) for kind, model in self.models.items()}

    def worst(self, kinds: Sequence[str] = CURVES) -> Disagreement:
        """Where the models of these kinds differ most."""
        table = np.array([self.speeds[kind] for kind in kinds])
        share = table.max(axis=0) / table.min(axis=0) - 1
        at = int(np.argmax(share))
        lowest, highest = kinds[int(table[:, at].argmin())], kinds[int(table[:, at].argmax())]
        return Disagreement(float(self.loads[at]), float(share[at]), lowest, highest)

    def uncertainty_at(self, load: float) -> float:
        """Half width at a load, relative to the time, linear between the samples."""
        samples = pooled(self.device.samples)
        widths = [sample.half_width / sample.seconds for sample in samples]
        return float(np.interp(load, [sample.load for sample in samples], widths))

    @property
    def uncertainty(self) -> float:
        """The widest half width of a sample, relative to its time."""
        return max(sample.half_width / sample.seconds for sample in self.device.samples)


def most_disputed(fits: Sequence[DeviceFits], count: int) -> list[DeviceFits]:
    """Return those `count` devices whose curves disagree most, in their order; all if no more."""
    if len(fits) <= count:
        return list(fits)
    order = np.argsort([-one.worst().share for one in fits], kind="stable")[:count]
    return [fits[i] for i in np.sort(order)]
