"""What the tables of a machine file may hold, and those of a platform in JSON."""

from __future__ import annotations

from evener.filing import toml_values as values
from evener.platforms import MAX_DEVICES, Device

GIB = 2.0**30
LIMITS = ("low_units", "high_units")
OWN = ("fixed_seconds", "cost_per_hour", "watts", "idle_watts")

_ABOVE_ZERO = "a number above zero"
_NAME = (values.text, "a text that is not empty", True)
_AT = (values.place, 'a place such as "site/node"', False)
_KIND = (values.text, 'a text such as "cpu" or "cuda"', False)
_CAPABILITIES = (values.numbers, "a table of numbers", False)
_COUNT = (values.count_up_to(MAX_DEVICES), f"a whole number from 1 to {MAX_DEVICES:,}", False)
_UNITS = (values.positive, _ABOVE_ZERO, False)
_BETWEEN = (values.pair, 'two different places, as ["n0", "n1"]', True)
_COST = (values.not_negative, "a number not below zero", False)

_LIMITS = dict.fromkeys(LIMITS, _UNITS)
_OWN = dict.fromkeys(OWN, _COST)
_SHARED = {"shared": (values.flag, "true or false", False)}
_CURVE = (values.index, "a whole number, which of the curves", False)

_LINK_KEYS = {
    "alpha_us": (values.seconds, "a number not below zero", False),
    "GB_per_s": (values.seconds_per_byte, f"{_ABOVE_ZERO}, or inf", False),
}
DEVICE = {
    "name": _NAME,
    "count": _COUNT,
    "at": _AT,
    "kind": _KIND,
    "speed": (values.positive, _ABOVE_ZERO, True),
    "memory_GiB": (values.memory_gib, _ABOVE_ZERO, False),
    "memory_units": _UNITS,
    **_LIMITS,
    **_OWN,
    "capabilities": _CAPABILITIES,
}
LEVEL = {"name": _NAME, **_LINK_KEYS, **_SHARED}
LINK = {"between": _BETWEEN, **_LINK_KEYS, **_SHARED}

_COSTS = {"alpha_s": _COST, "beta_s_per_byte": _COST}
PLATFORM_DICT = {
    "name": (values.text_or_empty, "a text", False),
    "devices": (values.a_list, "a list", True),
    "levels": (values.a_list, "a list", False),
    "links": (values.a_list, "a list", False),
    "curves": (values.a_list, "a list", False),
}
DEVICE_DICT = {
    "name": _NAME,
    "kind": _KIND,
    "speed": (values.positive, _ABOVE_ZERO, True),
    "memory_bytes": _UNITS,
    "memory_units": _UNITS,
    **_LIMITS,
    "at": _AT,
    **_OWN,
    "capabilities": _CAPABILITIES,
    "curve": _CURVE,
}
LEVEL_DICT = {"name": _NAME, **_COSTS, **_SHARED}
LINK_DICT = {"between": _BETWEEN, **_COSTS, **_SHARED}


def stated(device: Device) -> dict[str, float]:
    """The user's limits, what an iteration costs and the device draws, by key, where stated."""
    own = {key: getattr(device, key) for key in (*LIMITS, *OWN)}
    default = {"fixed_seconds": 0.0}
    return {key: value for key, value in own.items() if value != default.get(key)}
