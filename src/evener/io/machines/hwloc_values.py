"""Numbers, sets of processors and addresses as hwloc writes them in its XML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

from evener.errors import InputError
from evener.platforms.homes import MOST_CORES

ANY = -1  # the set of all processors


def bitmap(text: str | None, file: str | Path) -> int:
    """Convert a bitmap such as "0x0000000f,,0xffffffff" or "0xf...f,0x0" to a whole number.

    Words have 32 bits, the highest first; an empty word is zero. If `text` is None, all bits are
    set. Raises InputError for other texts.
    """
    if text is None:
        return ANY
    words = text.strip().split(",")
    endless = words[0] == "0xf...f"
    found = ANY if endless else 0
    for word in words[endless:]:
        if re.fullmatch(r"(0x[0-9a-fA-F]{1,8})?", word) is None or len(words) > MOST_CORES:
            raise InputError(
                f"has a set of processors {text[:40]!r} that is not a bitmap", file=file
            )
    digits = "".join(word.removeprefix("0x").rjust(8, "0") for word in words[endless:])
    return found << 4 * len(digits) | int(digits or "0", 16)


def cpus_of(cpuset: int, processors: Iterable[int]) -> frozenset[int]:
    """Return the `processors` that are in the set."""
    return frozenset(cpu for cpu in processors if cpuset >> cpu & 1)


def number_of(
    element: ET.Element, key: str, file: str | Path, most: int, default: int | None = None
) -> int:
    """Return an attribute that is a whole number below `most`; `default` if absent."""
    text = element.get(key)
    if text is None and default is None:
        raise InputError(f"has a {element.get('type', '')[:20]} without {key}", file=file)
    if text is None or text.strip() == "-1" or text == "4294967295":  # hwloc's "not known"
        return default or 0
    return whole(text, f"{key} of a {element.get('type', '')[:20]}", file, most)


def whole(text: str | None, what: str, file: str | Path, most: int) -> int:
    """Convert a text to a whole number below `most`; 0 for None.

    Raises InputError for other texts; what: their name in errors.
    """
    if text is None:
        return 0
    if re.fullmatch(r"\s*[0-9]{1,20}\s*", text) is None or int(text) >= most:
        raise InputError(
            f"{what} must be a whole number below {most:,}, not {text[:40]!r}", file=file
        )
    return int(text)


def infos_of(element: ET.Element) -> dict[str, str]:
    """Return the <info> elements of an object: values by name."""
    return {e.get("name", ""): e.get("value", "") for e in element if e.tag == "info"}


def bus_address(text: str) -> str:
    """Convert a PCI address of hwloc or nvidia-smi to "0000:3b:00.0"; "" if it is not one."""
    found = re.fullmatch(r"\s*([0-9a-fA-F]{4,8}):([0-9a-fA-F:.]{4,8})\s*", text)
    return f"{int(found[1], 16):04x}:{found[2].lower()}" if found else ""
