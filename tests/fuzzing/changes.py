"""Files gone wrong: bytes, words and lines changed; values within archives, JSON and TOML."""

import io
import json
import re
import warnings
import zipfile
from copy import deepcopy

import numpy as np

NUMBERS = (
    *(b"0", b"1", b"-1", b"2", b"7", b"00", b"0.5", b"-0.0", b"nan", b"-inf", b"inf", b"1e999"),
    *(b"1d400", b"1e-320", b"1e308", b"2147483647", b"2147483648", b"4294967296", b"-2147483649"),
    *(b"1000000000000000000", b"9223372036854775807", b"9223372036854775808", b"0x10", b"1_0"),
    *(b"18446744073709551617", b"1" * 400, b"9" * 20, b"1e18", b"", b"x", b"1,2", b"\xff"),
)
TEXTS = (
    *("", " ", "a", "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "]]>", "${x}"),
    *("\u202egpj.exe", "\u2066x\u2069", "\x1b[2J\x1b[31m", "\x9b2J", "\x00", "\x7f", "a\nb"),
    *("x" * 10_000, "\ud800", "é" * 300, "../../etc/passwd", "/dev/zero", "%s%n", "'\"", "\\"),
    *("<script>x</script>", "nan"),
    *("a.b" * 50, "[bold]", ":smile:", "$\\frac{1}{2}$", "__proto__", "1e5", "inf"),
)  # fmt: skip
VALUES = (
    *(None, True, False, 0, 1, -1, 2, 3, 0.5, -0.5, 1e-300, 1e308, -1e308, 2**31, 2**53 + 1),
    *(2**63, -(2**63) - 1, 2**64, 10**400, float("nan"), float("inf"), float("-inf")),
    *([], {}, [[]], [1], [None], {"a": 1}, [1, 2, 3], {"": {}}, [0.0] * 3, [True]),
)
PACKINGS = [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
DTYPES = (
    "i1",
    "u1",
    "<i2",
    "<i4",
    ">i4",
    "<i8",
    "<u8",
    "<f4",
    "<f8",
    ">f8",
    "?",
    "<U3",
    "S2",
    "<c16",
    "V4",
)


def changed(content, random):
    """`content` after one to four accidents, of the sort its form invites."""
    inner = _inner(content)
    if inner is not None and random.random() < 0.85:
        return inner(content, random)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        content = _accident(content, random)
    return content


def _inner(content):
    """What changes the parts of a container, so that it stays one."""
    if content.startswith(b"PK"):
        return _archive
    if content.startswith(b"\x93NUMPY"):
        return _npy
    if content[:1] in (b"{", b"["):
        return _json_lines if content.rstrip().count(b"\n{") else _json
    if re.search(rb"^\s*\[\[?\w+\]\]?\s*$", content, re.MULTILINE):
        return _toml
    return None


def _accident(content, random):
    content = content or b"x"
    at = random.randrange(len(content))
    length = random.randint(1, 12)
    action = random.choice(("flip", "cut", "repeat", "insert", "stop", "number", "number", "number",
                            "swap", "drop", "twice", "text", "much"))  # fmt: skip
    if action == "flip":
        return content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]
    if action == "cut":
        return content[:at] + content[at + random.choice((length, 60, 400)) :]
    if action == "repeat":
        return content[: at + length] + content[at:]
    if action == "insert":
        return content[:at] + random.randbytes(length) + content[at:]
    if action == "stop":
        return content[:at]
    if action == "number":
        return _other_number(content, random)
    if action == "text":
        return content[:at] + _bytes(random.choice(TEXTS)) + content[at:]
    if action == "much":
        piece = content[at : at + length]
        return content[:at] + piece * random.choice((10, 100, 3000)) + content[at:]
    return _lines(content, action, random)


def _lines(content, action, random):
    lines = content.split(b"\n")
    i, j = random.randrange(len(lines)), random.randrange(len(lines))
    if action == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    elif action == "drop":
        del lines[i]
    else:
        lines.insert(j, lines[i])
    return b"\n".join(lines)


def _other_number(content, random):
    # Of a long file a part will do: what is looked for is near.
    start = random.randrange(max(len(content) - 2000, 1))
    found = list(re.finditer(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?", content[start : start + 4000]))
    if not found:
        return content
    one = random.choice(found)
    a, b = start + one.start(), start + one.end()
    return content[:a] + random.choice(NUMBERS) + content[b:]


def _archive(content, random):
    """An archive's members changed, added or left out; its checksums right."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as old:
            members = {name: old.read(name) for name in old.namelist()}
    except zipfile.BadZipFile:
        return _accident(content, random)
    for _ in range(random.choice((1, 1, 2))):
        name = random.choice(list(members))
        action = random.random()
        if action < 0.05:
            del members[name]
        elif action < 0.1:
            members[random.choice(list(members))] = members[name]
        elif action < 0.2:
            members[name] = _accident(members[name], random)
        else:
            members[name] = _npy(members[name], random)
        if not members:
            break
    out = io.BytesIO()
    packing = random.choice(9 * [zipfile.ZIP_DEFLATED] + 3 * [zipfile.ZIP_STORED] + PACKINGS)
    with zipfile.ZipFile(out, "w", packing) as new:
        for name, member in members.items():
            new.writestr(name, member)
    content = out.getvalue()
    return _accident(content, random) if random.random() < 0.1 else content


def _npy(content, random):
    """An array with other values, of another shape or type."""
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception:  # damaged already
        return _accident(content, random)
    if array.dtype.kind == "U" and array.ndim == 0 and str(array)[:1] == "{":
        text = _json(str(array).encode(), random).decode("utf-8", "replace")
        return _saved(np.array(text.rstrip("\0") or "x"))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            array = _other_array(array, random)
        except (TypeError, ValueError, OverflowError):
            return _accident(content, random)
    return _saved(array)


def _other_array(array, random):
    action = random.choice(("value", "value", "value", "shape", "type", "short", "long", "values"))
    if action == "shape":
        return random.choice((array.ravel(), array[None], array.T, array.reshape(-1, 1),
                              array.ravel()[:1].reshape(()) if array.size else array))  # fmt: skip
    if action == "type":
        return array.astype(random.choice(DTYPES))
    if action == "short":
        return array[: random.randrange(len(array) + 1)] if array.ndim else array
    if action == "long":
        return np.concatenate([array, array[: random.randint(1, 5)]]) if array.ndim else array
    array = array.copy()
    if array.size:
        for _ in range(1 if action == "value" else 5):
            at = np.unravel_index(random.randrange(array.size), array.shape)
            array[at] = random.choice((0, 1, -1, 2, 5, 2**31, -(2**31), 2**62, -(2**63), np.nan,
                                       np.inf, 1e300, 0.5, array.flat[0]))  # fmt: skip
    return array


def _saved(array):
    out = io.BytesIO()
    try:
        np.lib.format.write_array(out, array, allow_pickle=False)
    except (ValueError, UnicodeEncodeError):
        return b""
    return out.getvalue()


def _json(content, random):
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return _accident(content, random)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = _other_value(data, random)
    return json.dumps(data).encode()


def _json_lines(content, random):
    lines = content.split(b"\n")
    i = random.randrange(len(lines))
    if random.random() < 0.8:
        lines[i] = _json(lines[i], random)
        return b"\n".join(lines)
    return _accident(content, random)


def _other_value(data, random):
    """Another value somewhere in what JSON holds: of the same kind, or of any."""
    place, path = data, []
    while isinstance(place, dict | list) and place and (not path or random.random() < 0.8):
        key = (
            random.choice(list(place)) if isinstance(place, dict) else random.randrange(len(place))
        )
        path.append((place, key))
        place = place[key]
    if not path:
        return deepcopy(random.choice(VALUES))
    holder, key = path[-1]
    action = random.random()
    if action < 0.1:
        del holder[key]
    elif action < 0.2 and isinstance(holder, list):
        holder.insert(key, deepcopy(random.choice(holder)))
    elif action < 0.25 and isinstance(holder, dict):
        holder[random.choice(TEXTS)] = deepcopy(holder[key])
    else:
        holder[key] = _alike(place, random)
    return data


def _alike(value, random):
    if random.random() < 0.3:
        return deepcopy(random.choice(VALUES))
    if isinstance(value, str):
        return random.choice(TEXTS)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return random.choice(
            (0, 1, -1, value + 1, -value, value * 2, 1e-300, 1e300, 0.5, 2**53, 2**62)
        )
    if isinstance(value, list) and value:
        return random.choice((value[:-1], value + value[:1], value[::-1], [value[0]] * len(value)))
    return deepcopy(random.choice(VALUES))


def _toml(content, random):
    """A value, key or table of a file of TOML changed, which most often it remains."""
    for _ in range(random.choice((1, 1, 2, 3))):
        action = random.random()
        if action < 0.5:
            pattern, others = rb"(?<==)[ \t]*(?:\"[^\"\n]*\"|[^\s\",\[\]{}]+)", _toml_values(random)
        elif action < 0.65:
            pattern, others = rb"\"[^\"\n]*\"", [_toml_text(random.choice(TEXTS))]
        elif action < 0.8:
            pattern, others = (
                rb"(?m)^[ \t]*[\w.]+[ \t]*(?==)",
                [b"a.b.c ", b'"x" ', b"speed ", b"name "],
            )
        else:
            content = _accident(content, random)
            continue
        found = list(re.finditer(pattern, content))
        if found:
            one = random.choice(found)
            content = content[: one.start()] + random.choice(others) + content[one.end() :]
    return content


def _toml_values(random):
    return [
        *(b" " + number for number in NUMBERS if number),
        *(b" [1, 2]", b" {}", b" true", b" 1979-05-27", b' ["a", "b"]', b" []", b" 0b1", b" +1"),
        *(b" " + _toml_text(random.choice(TEXTS)) for _ in range(8)),
    ]


def _toml_text(text):
    """Texts with halves of pairs are written as escapes, all others as they are."""
    halved = any("\ud800" <= c <= "\udfff" for c in text)
    return _bytes(json.dumps(text, ensure_ascii=halved))


def _bytes(text):
    return text.encode("utf-8", "surrogatepass")
