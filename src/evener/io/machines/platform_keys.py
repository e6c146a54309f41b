"""The keys that tables of a machine file may contain, and the checks of their values."""

from __future__ import annotations

from evener.io.machines import toml_tables as tables
from evener.platforms.platform import MAX_DEVICES, Device

GIB = 2.0**30
LIMITS = ("low_units", "high_units")
OWN = ("fixed_seconds", "cost_per_hour", "watts", "idle_watts")
# Capabilities that have keys of their own in a machine file; the speed follows from mips.
ABILITIES = ("mips", "vector_length")
INSTRUCTIONS_PER_MIPS = 1e6

ABOVE_ZERO = "a number above zero"
NAME = (tables.text, "a text that is not empty", True)
AT = (tables.place, 'a place such as "site/node"', False)
KIND = (tables.text, 'a text such as "cpu" or "cuda"', False)
CAPABILITIES = (tables.numbers, "a table of numbers", False)
COUNT = (tables.count_up_to(MAX_DEVICES), f"a whole number from 1 to {MAX_DEVICES:,}", False)
UNITS = (tables.positive, ABOVE_ZERO, False)
BETWEEN = (tables.pair, 'two different places, as ["n0", "n1"]', True)
COST = (tables.not_negative, "a number not below zero", False)

OF_LIMITS = dict.fromkeys(LIMITS, UNITS)
OF_OWN = dict.fromkeys(OWN, COST)
SHARED = {"shared": (tables.flag, "true or false", False)}

LINK_KEYS = {
    "alpha_us": (tables.seconds, "a number not below zero", False),
    "GB_per_s": (tables.seconds_per_byte, f"{ABOVE_ZERO}, or inf", False),
}
HOST = {
    "host": (tables.as_given, "the name of a computer or a device, or a list of names", False),
    **{f"host_{key}": check for key, check in LINK_KEYS.items()},
}
DEVICE = {
    "name": NAME,
    "count": COUNT,
    "at": AT,
    "kind": KIND,
    **HOST,
    "cores": (tables.as_given, 'a text such as "0-3,8", or a list', False),
    "gpu": (tables.as_given, "an index, a UUID, or a list of these", False),
    "speed": (tables.positive, ABOVE_ZERO, False),
    **dict.fromkeys(ABILITIES, (tables.positive, ABOVE_ZERO, False)),
    "memory_GiB": (tables.memory_gib, ABOVE_ZERO, False),
    "memory_units": UNITS,
    **OF_LIMITS,
    **OF_OWN,
    "capabilities": CAPABILITIES,
}
LEVEL = {"name": NAME, **LINK_KEYS, **SHARED}
LINK = {"between": BETWEEN, **LINK_KEYS, **SHARED}
NETWORK = {
    "kind": (tables.text, "one of mesh, torus, star, fat-tree", True),
    "devices": (tables.texts, "a name of a [[device]] table, or a list of such names", False),
    "shape": (tables.counts, "a list of whole numbers above zero, as [8, 8]", False),
    "arity": COUNT,
    "name": (tables.text, "a text that is not empty", False),
    **LINK_KEYS,
    **SHARED,
}


def stated(device: Device) -> dict[str, float]:
    """Return a device's optional numbers (limits, costs, power) that are stated, by key."""
    own = {key: getattr(device, key) for key in (*LIMITS, *OWN)}
    default = {"fixed_seconds": 0.0}
    return {key: value for key, value in own.items() if value != default.get(key)}
