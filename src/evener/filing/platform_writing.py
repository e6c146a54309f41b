"""A Platform as the text of a machine file: equal neighbours in one table, floats to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from decimal import Decimal
from functools import lru_cache
from typing import Any

from evener.errors import InputError
from evener.filing.platform_tables import GIB, stated
from evener.filing.toml_values import CONTEXT, beta_of
from evener.filing.toml_writing import toml_key, toml_text
from evener.platforms import Connection, Device, Level, Link, Platform

DEFAULT_KIND = "cpu"


def platform_to_toml(platform: Platform) -> str:
    """Return the text of a machine file. Raises InputError for devices with speed curves."""
    if platform.has_curves:
        raise InputError("a machine file holds one speed a device: curves go to a speeds file")
    parts = [f"name = {toml_text(platform.name)}\n"] if platform.name else []
    parts.extend(
        "\n".join(
            ["[[level]]", f"name = {toml_text(level.name)}", *_link(level.link), *_shared(level)]
        )
        for level in platform.levels
    )
    parts.extend(_device_table(d, name, count) for d, name, count in runs_of(platform.devices))
    for connection in platform.connections:
        a, b = (toml_text(end) for end in connection.between)
        lines = [f"between = [{a}, {b}]", *_link(connection.link), *_shared(connection)]
        parts.append("\n".join(["[[link]]", *lines]))
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def runs_of(devices: Sequence[Device]) -> list[tuple[Device, str, int]]:
    """Group neighbours that are equal but for their names name0, name1, ...

    Returns (first device, name, how many) for each group; a device alone keeps its full name
    and has count 0.
    """
    runs, start = [], 0
    while start < len(devices):
        first = devices[start]
        base, end = first.name[:-1], start + 1
        if first.name.endswith("0") and base and base == base.strip():
            alike = _traits(first)
            while (
                end < len(devices)
                and devices[end].name == f"{base}{end - start}"
                and _traits(devices[end]) == alike
            ):
                end += 1
        alone = end == start + 1
        runs.append((first, first.name if alone else base, 0 if alone else end - start))
        start = end
    return runs


def _traits(device: Device) -> tuple[Any, ...]:
    return tuple(getattr(device, f.name) for f in fields(Device) if f.name != "name")


def _device_table(device: Device, name: str, count: int) -> str:
    lines = ["[[device]]", f"name = {toml_text(name)}"]
    if count:
        lines.append(f"count = {count}")
    if device.at:
        lines.append(f"at = {toml_text(device.at)}")
    if device.kind != DEFAULT_KIND:
        lines.append(f"kind = {toml_text(device.kind)}")
    lines.append(f"speed = {_real(device.speed)}")
    if device.memory is not None:
        lines.append(f"memory_GiB = {_real(device.memory / GIB)}")
    if device.memory_units is not None:
        lines.append(f"memory_units = {_real(device.memory_units)}")
    lines.extend(f"{key} = {_real(value)}" for key, value in stated(device).items())
    if device.capabilities:
        lines.append("[device.capabilities]")
        lines.extend(f"{toml_key(k)} = {_real(v)}" for k, v in device.capabilities.items())
    return "\n".join(lines)


def _shared(one: Level | Connection) -> list[str]:
    return ["shared = true"] if one.shared else []


def _link(link: Link) -> list[str]:
    """The lines of a link; bandwidth without limit (beta 0) is left out."""
    lines = [f"alpha_us = {_decimal(Decimal(repr(float(link.alpha))).scaleb(6))}"]
    if link.beta > 0:
        lines.append(f"GB_per_s = {_gb_per_s(float(link.beta))}")
    return lines


@lru_cache(maxsize=4096)
def _gb_per_s(beta: float) -> str:
    """The fewest digits that read back as this beta [s/B]."""
    s_per_gb = CONTEXT.multiply(Decimal(beta), 10**9)
    for digits in range(1, 26):
        text = _decimal(CONTEXT.divide(1, s_per_gb), digits)
        if beta_of(Decimal(text)) == beta:
            return text
    raise AssertionError(f"beta {beta!r} has no decimal form")


def _real(value: float) -> str:
    return _decimal(Decimal(repr(float(value))))


def _decimal(value: Decimal, digits: int = 40) -> str:
    """Write as TOML's float: 0.5, 16.0, 2.0e8."""
    if value == 0:
        return "0.0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa, power = mantissa.rstrip("0").rstrip("."), int(exponent)
    if -5 <= power < 6:
        plain = f"{Decimal(mantissa).scaleb(power):f}"
        return plain if "." in plain else f"{plain}.0"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{power}"
