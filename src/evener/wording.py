"""Text for people: safe to print, short lists of names, numbers with their units.

The only place where numbers become text: `duration` [s], `memory` [B], `speed` [units/s], `units`
(loads with all digits), `count` (at most eight digits), `percent`, `ratio`. Imports nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

QUOTED = 60  # characters shown of a quotation, its escapes counted as they are printed
_MARKS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# A quote inside a word (an apostrophe) or behind a backslash opens no quotation.
_QUOTATION = re.compile(r"""(?<![\w\\])(b?)(['"`])((?:\\.|(?!\2)[^\\])*)\2""")
_ESCAPE_CUT_SHORT = re.compile(r"\\(?:x.?|u.{0,3}|U.{0,7})?$")


def printable(text: str, keep: str = "") -> str:
    """Return a text with escapes such as \\u202e in place of unprintable characters.

    Unprintable are control characters, which move a cursor or colour a terminal, marks that reverse
    the direction of text, and spaces of unusual widths. keep: characters that stay, such as line
    ends.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escaped(c) for c in text)


def without_marks(text: str) -> str:
    """Return a document with control characters and marks of text direction replaced by escapes.

    Line ends, tabs and spaces of any width, which typesetting uses, are kept.
    """
    return _MARKS.sub(lambda found: _escaped(found[0]), text)


def shortened(text: str, most: int) -> str:
    """Return a text on one line, printable, with at most QUOTED characters of each quotation.

    A text longer than `most` characters is cut off.
    """
    line = printable(text[: 50 * most].replace("\n", " "))
    if len(line) > QUOTED:
        line = _QUOTATION.sub(_cut_quotation, line)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _cut_quotation(found: re.Match[str]) -> str:
    prefix, quote, quoted = found.groups()
    if len(quoted) > QUOTED:
        quoted = f"{without_part_of_escape(quoted[: QUOTED - 3])}..."
    return f"{prefix}{quote}{quoted}{quote}"


def without_part_of_escape(text: str) -> str:
    """Return a shortened text without the part of an escape, such as \u202e, at its end."""
    found = _ESCAPE_CUT_SHORT.search(text)
    if found is None or (found.start() - len(text[: found.start()].rstrip("\\"))) % 2:
        return text
    return text[: found.start()]


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


# Names in few words: runs of numbered devices as ranges; the nearest known name.

SHOWN = 6  # ranges that are listed
NEAR = 0.6  # min. similarity of a suggested name, difflib's ratio


def ranges(names: Sequence[str], shown: int = SHOWN) -> str:
    """Return a short list of names, numbered ones as ranges: "gpu0, cpu0..cpu3 and 2 more"."""
    stems: dict[str, list[str]] = {}
    for name in names:
        stems.setdefault(_split(name)[0], []).append(name)
    parts: list[list[str]] = []
    for own in stems.values():
        for name in sorted(own, key=lambda name: _split(name)[1] or 0):
            if parts and _follows(parts[-1][-1], name):
                parts[-1].append(name)
            else:
                parts.append([name])
    words = [word for part in parts[:shown] for word in _run(part)]
    rest = sum(len(part) for part in parts[shown:])
    if rest:
        return f"{', '.join(words)} and {rest:,} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _follows(before: str, name: str) -> bool:
    (a, i), (b, j) = _split(before), _split(name)
    return a == b and i is not None and j is not None and j == i + 1


def _split(name: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.*?)(\d{1,15})", name)
    return (name, None) if match is None else (match[1], int(match[2]))


def _run(part: list[str]) -> list[str]:
    """Return one or two names unchanged, three or more as a range."""
    names = [printable(name) for name in part]
    return names if len(names) <= 2 else [f"{names[0]}..{names[-1]}"]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to an unknown name; None if none is similar."""
    lower = {one.lower(): one for one in reversed(list(known))}
    near = get_close_matches(name.lower(), lower, 1, NEAR)
    return lower[near[0]] if near else None


# Commands, options and formats of earlier versions, and what serves in their place.
REMOVED = {
    "hosts": "`mpiexec -f HOSTFILE evener machine here --measure` measures a device for each rank",
    "dot": "read a graph in DOT by networkx: "
    "ev.Graph.from_networkx(networkx.nx_agraph.read_dot(FILE)); Evener still reads and writes "
    "stream graphs in DOT",
    "stg": "stream graphs are written in TOML, see docs/streams.md",
}


def meant(name: str, known: Iterable[str]) -> str:
    """Return a hint: what replaces a removed name, "; did you mean NAME?" for others, or ""."""
    if name in REMOVED:
        return f", which was removed: {REMOVED[name]}"
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


# Numbers with their units. A dash stands for None: a figure that there is not.

NOTHING = "–"
CENTURY = 3e9  # [s]: longer times are shown as a power of ten
_DURATIONS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SIZES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))
_SIZE = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})?|\d{1,15}|\d(?:\.\d{1,9})?e\d{1,2})\s*([KMGT](?:I?B)?|B|)", re.ASCII
)
_COUNTS = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


def duration(seconds: float | None) -> str:
    """Return seconds [s] as text with three digits: "3.10 ms".

    Infinity is "forever", None a dash.
    """
    if seconds is None:
        return NOTHING
    if not math.isfinite(seconds):
        return "forever"
    if seconds == 0:
        return "0 s"
    if seconds >= CENTURY:
        return f"{seconds:.3g} s"
    # From 1000 s on three digits would become 1e+03.
    if seconds >= 999.5:
        return f"{seconds:,.0f} s"
    for size, unit in _DURATIONS:
        if float(f"{seconds / size:.3g}") >= 1:
            return f"{seconds / size:#.3g} {unit}".replace(". ", " ")
    return f"{seconds / 1e-9:.2g} ns"


def microseconds(seconds: float) -> str:
    """Return seconds [s] as text in microseconds, as in machine files: "0.5 µs"."""
    return f"{seconds * 1e6:.4g} µs"


def time_of(seconds: float, ideal: float | None) -> str:
    """Return seconds [s] as a duration.

    If speeds are relative, as a multiple of the ideal: "1.03x". ideal: the result of
    Platform.relative_ideal.
    """
    return duration(seconds) if ideal is None else f"{times(seconds / ideal)}x"


def times(value: float) -> str:
    """Return a ratio as text without a unit, for sentences: "1.08", "2.5e+30"."""
    return f"{value:.2f}" if value < 1e6 else f"{value:.3g}"


def ratio(value: float | None) -> str:
    """Return a ratio as text with three digits: "1.08x"; None: a dash."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{value:.2f}x" if value < 10 else f"{three_digits(value)}x"


MOST_PERCENT = 10.0  # a larger share is given as times


def percent(share: float | None) -> str:
    """Return a fraction of one as text in percent: "3.0 %"; None: a dash."""
    if share is None or not math.isfinite(share):
        return NOTHING
    if share > MOST_PERCENT:
        return f"{share:,.3g} times"
    value = 100 * share
    text = f"{value:.0f} %" if abs(value) >= 100 else f"{value:.1f} %"
    return text.replace("-", "−")


def signed_percent(share: float) -> str:
    """Return a deviation as text in percent with its sign: "+0.40 %"; a dash if not finite.

    Above 1,000 %, the factor: "12 times".
    """
    if not math.isfinite(share):
        return NOTHING
    if share > MOST_PERCENT:
        return f"{1 + share:,.3g} times"
    text = f"{100 * share:+.2f} %"
    return "0.00 %" if float(text[:-2]) == 0 else text.replace("-", "−")


def memory(n_bytes: float | None) -> str:
    """Return bytes [B] as text in binary units: "1.20 GiB"; infinity: "no cap", None: a dash."""
    if n_bytes is None:
        return NOTHING
    if math.isinf(n_bytes):
        return "no cap"
    if n_bytes >= 2.0**70:
        return f"{n_bytes:.3g} B"
    for size, unit in _SIZES:
        if n_bytes >= size:
            return f"{three_digits(n_bytes / size)} {unit}"
    return f"{n_bytes:,.0f} B"


SIZES = "2GiB or 2G (2^30 bytes each G), 2GB (10^9), or bytes"  # what `bytes_of` takes


def bytes_of(text: str) -> int | None:
    """Return the bytes of a size: 500000000, 5e8, 64MiB, 2GB; 2G is 2GiB. None if it is not a size.

    Upper and lower case are equivalent.
    """
    found = _SIZE.fullmatch(text.strip().upper().replace("E", "e"))
    if found is None:
        return None
    unit, base = found[2], 1000 if found[2].endswith("B") and "I" not in found[2] else 1024
    return int(float(found[1]) * base ** " KMGT".index(unit.rstrip("IB") or " "))


def speed(units_per_second: float) -> str:
    """Return a speed [units/s] as text with a prefix: "200 M units/s"."""
    for size, unit in (*_COUNTS, (1e3, "k")):
        if units_per_second >= size:
            return f"{units_per_second / size:.3g} {unit} units/s"
    return f"{units_per_second:.3g} units/s"


def units(value: float) -> str:
    """Return a load as text with all its digits: "12,345,678", "0.125"."""
    whole = value == round(value) or abs(value) >= 1e6
    return f"{value:,.0f}" if whole else f"{value:,.6g}"


def count(value: float | None) -> str:
    """Return a count as text: all digits below ten million, then "12.3 M"; None: a dash."""
    if value is None:
        return NOTHING
    if not math.isfinite(value):
        return "unlimited"
    if abs(value) >= 1e7:
        for size, unit in _COUNTS:
            if abs(value) >= size:
                return f"{three_digits(value / size)} {unit}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def plural(n: int, one: str, many: str = "") -> str:
    """Return "1 vertex", "4,012 vertices"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def all_of(n: int, one: str) -> str:
    """Return "The edge", "Both edges", "All 4,012 edges": the subject of a sentence.

    n: number of things, at least one.
    """
    return {1: f"The {one}", 2: f"Both {one}s"}.get(n, f"All {plural(n, one)}")


def three_digits(value: float) -> str:
    """Return a number of at least one with three digits, or all digits before the decimal point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


# What repr shows of an object that holds arrays: two lines with its counts, not the arrays.

WIDTH = 88  # columns of a line


def two_lines(name: str, first: Sequence[str], second: Sequence[str]) -> str:
    """Return `Name(first, first,` and below it `second, second)`."""
    return f"{name}({', '.join(first)},\n{' ' * (len(name) + 1)}{', '.join(second)})"


def from_above(home: str) -> Callable[..., Any]:
    """Import and return the function `module:name` of a higher package.

    Only for `_repr_html_` and `plot`: a notebook calls methods of the object itself, but the code
    that draws is in a higher package. No other code may import from a higher package.
    """
    module, _, name = home.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def spread(values: npt.NDArray[Any]) -> str:
    """Return the range of numbers as text, "2 to 3", or the single value if all are equal."""
    if values.size == 0:
        return "none"
    low, high = values.min(), values.max()
    least, most = number(low), number(high)
    return least if least == most else f"{least} to {most}"


def number(value: Any) -> str:
    """Return a number as text with few digits: "4,012", "0.125", "1.2e+09"."""
    import numpy as np  # here, as --help must not wait for it

    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        if abs(int(value)) >= 10**15:
            return f"about 10^{len(str(abs(int(value)))) - 1}"
        return f"{int(value):,}"
    value = float(value)
    if value.is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.4g}"


def brief(thing: Any) -> str:
    """Return the fields of a dataclass in at most two lines; arrays as length and range."""
    name = type(thing).__name__
    shown = [
        f"{field.name}={_value(getattr(thing, field.name, None))}"
        for field in fields(thing)
        if field.repr
    ]
    indent = len(name) + 1
    lines = [name + "("]
    for i, item in enumerate(shown):
        text = item + (", " if i < len(shown) - 1 else ")")
        if len(lines[-1]) + len(text.rstrip()) > WIDTH and len(lines[-1]) > indent:
            if len(lines) == 2:
                lines[-1] += "...)"
                break
            lines.append(" " * indent)
        lines[-1] += text
    return "\n".join(line.rstrip() for line in lines)


def _value(value: Any) -> str:
    import numpy as np

    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, int | float | np.number | np.bool_):
        return number(value)
    if isinstance(value, str):
        return repr(value if len(value) <= 30 else value[:30] + "...")
    if is_dataclass(value):
        return f"{type(value).__name__}(...)"
    if isinstance(value, Mapping | Sequence):
        return _collection(value)
    text = repr(value)
    return text if len(text) <= 40 and "\n" not in text else f"{type(value).__name__}(...)"


def _array(array: npt.NDArray[Any]) -> str:
    shape = " x ".join(f"{size:,}" for size in array.shape)
    if array.dtype.kind not in "biuf" or array.size == 0:
        return f"[{shape} {array.dtype}]"
    if array.dtype.kind == "b":
        return f"[{shape}: {int(array.sum()):,} True]"
    return f"[{shape}: {spread(array)}]"


def _collection(value: Mapping[Any, Any] | Sequence[Any]) -> str:
    opening, closing = "{}" if isinstance(value, Mapping) else "()"
    return f"{opening}{closing}" if not value else f"{opening}{len(value):,} entries{closing}"
