"""Machines: the deepest level of a platform that has CPUs and GPUs."""

import pytest

from evener.partitioning.policies.machines import machines_of
from evener.platforms.platform import Device, Level, Platform

LEVELS = (Level("site"), Level("node"), Level("socket"))


def test_deepest_level_with_both_kinds():
    devices = (
        Device("a", 2.0, at="n0/s0"),
        Device("b", 8.0, kind="cuda", at="n0/s1"),
        Device("c", 4.0, at="n1/s0"),
        Device("d", 12.0, kind="cuda", at="n1/s0"),
    )
    assert machines_of(Platform(devices[:2], LEVELS)).machine.tolist() == [0, 0]
    both = machines_of(Platform(devices, LEVELS))
    assert both.machine.tolist() == [0, 1, 2, 2]  # one socket has both
    assert machines_of(Platform(devices, LEVELS), level="node").machine.tolist() == [0, 0, 1, 1]
    assert machines_of(Platform(devices, LEVELS), level="site").n_machines == 1
    assert both.speeds.tolist() == pytest.approx([2 / 3, 8 / 3, 4 / 3, 4])
    assert both.devices(gpu=True) == [1, 3]
    assert both.devices(2, gpu=False) == [2]


def test_without_levels_a_place_is_a_machine():
    placed = Platform((Device("a", 1.0, at="x"), Device("b", 1.0, kind="cuda", at="x")))
    assert machines_of(placed).machine.tolist() == [0, 0]
    apart = (Device("a", 1.0, at="y"), Device("b", 1.0, kind="cuda", at="x"))
    assert machines_of(Platform(apart)).n_machines == 1  # together they have both kinds
    alike = Platform((Device("a", 1.0), Device("b", 1.0)))
    assert machines_of(alike).machine.tolist() == [0, 1]
