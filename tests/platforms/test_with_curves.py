"""Platforms with speed curves: who gets which curve, times, and the bound of every makespan."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.io.machines.platform_dicts import platform_from_dict, platform_to_dict
from evener.io.machines.platforms import platform_to_toml
from evener.platforms.models.fitting import fit_device
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Platform
from evener.platforms.with_curves import (
    least_seconds,
    platform_of,
    seconds_at,
    with_curves,
    with_speeds,
)

CPU = DeviceSpeeds("cpu", (Sample(10, 1.0), Sample(100, 20.0)))
MEASURED = (Sample(10, 2.0, 0.1, 3), Sample(90, 3.0, status="slower"))
GPU = DeviceSpeeds("gpu", MEASURED, 80.0, "akima", {"kernel": "spmv"})
GPU1 = DeviceSpeeds("gpu1", (Sample(10, 4.0),))


def machine(*names):
    return Platform(tuple(Device(name, 1.0, memory=1e9) for name in names))


def test_curves_go_by_name_then_by_name_without_number():
    platform, unused = with_curves(machine("cpu7", "gpu0", "gpu1", "gpu2"), [CPU, GPU, GPU1])
    assert [device.curve for device in platform.devices] == [CPU, GPU, GPU1, GPU]
    assert platform.devices[1].curve is platform.devices[3].curve
    assert platform.devices[0].memory == 1e9
    assert unused == []
    assert with_curves(machine("cpu"), [CPU, GPU])[1] == ["gpu"]
    with pytest.raises(InputError, match="no speeds for device 'gpx'; did you mean gpu"):
        with_curves(machine("cpu", "gpx"), [CPU, GPU])
    with pytest.raises(InputError, match="'cpu': no samples"):
        with_curves(machine("cpu"), [DeviceSpeeds("cpu")])


def test_times_are_those_of_each_model():
    platform, _ = with_curves(machine("gpu0", "cpu0", "gpu1", "gpu2"), [CPU, GPU, GPU1])
    loads = np.array([7.0, 50.0, 20.0, 0.0])
    one_by_one = [fit_device(d.curve).time(x) for d, x in zip(platform.devices, loads, strict=True)]
    np.testing.assert_allclose(seconds_at(platform, loads), one_by_one)
    assert with_speeds(platform, loads + 1).speeds.tolist() == [8.0, 51.0, 21.0, 1.0]


def test_no_partition_beats_the_bound():
    """Against all ways to share 24 units among three devices, one with a time that falls."""
    odd = DeviceSpeeds("odd", (Sample(4, 4.0), Sample(8, 2.0), Sample(20, 9.0)))
    platform = platform_of([CPU, odd, DeviceSpeeds("slow", (Sample(3, 6.0),), 5.0)])
    every = [
        seconds_at(platform, np.array([a, b, 24.0 - a - b])).max()
        for a in range(25)
        for b in range(25 - a)
        if 24 - a - b <= 5
    ]
    bound = least_seconds(platform, 24.0)
    assert bound <= min(every)
    assert bound >= 0.9 * min(every)
    full = platform_of([DeviceSpeeds("a", (Sample(3, 6.0),), 5.0)])
    assert least_seconds(full, 5.0) == pytest.approx(10.0)
    assert least_seconds(full, 6.0) == np.inf


def test_dicts_hold_each_curve_once_and_give_it_back():
    platform, _ = with_curves(machine("gpu0", "cpu0", "gpu1", "gpu2"), [CPU, GPU])
    data = platform_to_dict(platform)
    assert len(data["curves"]) == 2
    again = platform_from_dict(data)
    assert again == platform
    assert again.devices[0].curve is again.devices[3].curve
    data["devices"][0]["curve"] = 2
    with pytest.raises(InputError, match="platform: no curve has the number 2"):
        platform_from_dict(data)
    data["devices"][0]["curve"] = 0
    data["curves"][0]["samples"] = [[1, -1], [2, 3]]
    with pytest.raises(InputError, match="sample 0 of device 'gpu'"):
        platform_from_dict(data)
    with pytest.raises(
        InputError, match="a machine file has one speed per device; store curves in a speeds file"
    ):
        platform_to_toml(platform)
