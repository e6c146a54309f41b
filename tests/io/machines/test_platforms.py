"""Machine files: read and written without loss, every mistake placed."""

import json
import math
import re
import string
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.io.machines.platform_dicts import platform_from_dict, platform_to_dict
from evener.io.machines.platforms import platform_to_toml, read_platform, write_platform
from evener.platforms.platform import MAX_DEVICES, Connection, Device, Level, Link, Platform
from tests.examples import with_examples

ISSUE = """\
[[level]]                      # from the root down
name = "cluster"
alpha_us = 2.0
GB_per_s = 10.0
[[level]]
name = "node"
alpha_us = 0.5
GB_per_s = 40.0
[[device]]
name = "cpu"                   # with count: cpu0, cpu1, ...
count = 15
at = "n0"
speed = 2.0e8
memory_GiB = 4.0
[[device]]
name = "gpu"
kind = "cuda"
at = "n1"
speed = 3_000_000_000
memory_units = 500
[device.capabilities]
mips = 1e4
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "m.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_platform(path)

    return read_text


def write_read(tmp_path, platform):
    path = tmp_path / "written.toml"
    write_platform(path, platform)
    return read_platform(path)


def test_the_form_of_the_manual(read, tmp_path):
    platform = read(ISSUE)
    assert platform.names == [f"cpu{i}" for i in range(15)] + ["gpu"]
    assert platform.levels == (
        Level("cluster", Link(2e-6, 1e-10)),
        Level("node", Link(5e-7, 2.5e-11)),
    )
    assert platform.devices[14] == Device("cpu14", 2e8, memory=2.0**32, at="n0")
    gpu = Device("gpu", 3e9, "cuda", None, 500.0, "n1", {"mips": 1e4})
    assert platform.devices[15] == gpu
    assert write_read(tmp_path, platform) == platform
    assert "count = 15" in platform_to_toml(platform)


def test_the_smallest_file(read):
    platform = read('[[device]]\nname = "a"\nspeed = 1\n[[device]]\nname = "b"\nspeed = 2.5\n')
    assert platform.speeds.tolist() == [1.0, 2.5]
    assert not platform.has_links


def test_digits_may_be_separated(read):
    assert read(D.replace("1", "1_0.5")).speeds.tolist() == [10.5]


def test_inline_tables_bom_and_windows_line_ends(read):
    text = '\ufeffname = "box"\r\ndevice = [{name = "a", speed = 1, capabilities = {mips = 3}}]\r\n'
    assert read(text).devices[0].capabilities == {"mips": 3.0}
    assert read(text).name == "box"


def test_links_and_infinite_bandwidth(read):
    platform = read(
        '[[device]]\nname = "d"\ncount = 2\nspeed = 1\n[[device]]\nname="x"\nspeed=1\nat="sw"\n'
        '[[link]]\nbetween = ["d0", "sw"]\nalpha_us = 1.5\nGB_per_s = inf\n'
        '[[link]]\nbetween = ["d1", "sw"]\nGB_per_s = 2\n'
    )
    assert platform.connections[0] == Connection(("d0", "sw"), Link(1.5e-6, 0.0))
    assert platform.connections[1].link == Link(0.0, 5e-10)


numbers = st.floats(min_value=1e-300, max_value=1e290, allow_subnormal=False)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda s: s == s.strip()
)
places = st.lists(st.sampled_from(["n0", "n1", 'q"\\', "é #"]), max_size=2).map("/".join)
links = st.builds(
    Link,
    st.floats(0, 1e300),
    st.one_of(st.just(0.0), st.floats(5e-324, 1e300), st.floats(1e-12, 1e-8)),
)


@st.composite
def platforms(draw):
    wanted = draw(st.lists(st.one_of(names, st.sampled_from(["d0", "d1", "d2", "d10", "d01", "0"])),
                           min_size=1, max_size=6, unique=True))  # fmt: skip
    shared = draw(st.booleans())
    traits = st.tuples(
        numbers,
        st.sampled_from(["cpu", "cuda", "\n"]),
        st.one_of(st.none(), st.floats(1, 1e290)),
        st.one_of(st.none(), numbers),
        places,
        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
                        st.floats(allow_nan=False, allow_infinity=False), max_size=2),
        st.none(),
        st.sampled_from([0.0, 1e-5, 0.1 + 0.2]),
        *(st.one_of(st.none(), st.floats(0, 1e300)) for _ in range(3)),
    )  # fmt: skip
    flags = st.booleans()
    same = draw(traits)
    devices = [Device(name, *(same if shared else draw(traits))) for name in wanted]
    if len(devices) > 1 and draw(st.booleans()):
        behind = draw(st.integers(0, len(devices) - 1))
        last = devices[-1].name
        devices[:behind] = [
            replace(one, host=last, host_link=draw(links), at="") for one in devices[:behind]
        ]
    form = draw(st.sampled_from(["free", "levels", "links"][: 2 + (len(devices) > 1)]))
    levels = (
        [Level(f"l{i}", draw(links), draw(flags)) for i in range(3)] if form == "levels" else []
    )
    hub = []
    if form == "links":
        hub = [Connection((d.name, "the hub"), draw(links), draw(flags)) for d in devices]
    return Platform(tuple(devices), tuple(levels), tuple(hub), draw(st.one_of(st.just(""), names)))


@pytest.mark.slow
@with_examples(150, suppress_health_check=list(HealthCheck))
@given(platforms())
def test_nothing_is_lost(tmp_path, platform):
    assert write_read(tmp_path, platform) == platform
    assert platform_from_dict(json.loads(json.dumps(platform_to_dict(platform)))) == platform


@pytest.mark.slow
@with_examples(400)
@given(st.floats(5e-324, 1e300), st.floats(5e-324, 1.7e308))
def test_links_come_back_to_the_bit(tmp_path_factory, alpha, beta):
    path = tmp_path_factory.getbasetemp() / "bits.toml"
    platform = Platform((Device("a", 1.0),), (Level("l", Link(alpha, beta)),))
    write_platform(path, platform)
    assert read_platform(path).levels[0].link == Link(alpha, beta)


def test_plain_numbers_stay_plain():
    platform = Platform((Device("a", 2e8, memory=2.0**32),), (Level("l", Link(0.3e-6, 1 / 7e9)),))
    text = platform_to_toml(platform)
    for line in ("alpha_us = 0.3", "GB_per_s = 7.0", "speed = 2.0e8", "memory_GiB = 4.0"):
        assert line in text.split("\n")


@pytest.mark.parametrize(
    ("present", "tables"),
    [
        (["d0", "d1", "d2"], 1),
        (["d0"], 1),
        (["d1", "d2"], 2),
        (["d0", "d2", "d1"], 3),
        (["n10", "n11", "m0", "m1"], 2),
        (["0", "1"], 2),
        (["a 0", "a 1"], 2),
    ],
)
def test_equal_neighbours_share_a_table(tmp_path, present, tables):
    platform = Platform(tuple(Device(name, 1.0) for name in present))
    assert platform_to_toml(platform).count("[[device]]") == tables
    assert write_read(tmp_path, platform) == platform


D = '[[device]]\nname = "a"\nspeed = 1\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('[[device]]\nname = "a"\n\nspeeed = 1\n', 4, "'speeed'.*did you mean speed"),
        (D + "memory = 4\n", 4, "did you mean memory_GiB"),
        (D + "GB_per_S = 4\n", 4, "unknown key 'GB_per_S'"),
        ("[[devise]]\n" + D, 1, "did you mean device"),
        ('[[level]]\nname="x"\nlatency = 3\n' + D, 3, "did you mean alpha_us"),
        ('[[level]]\nname="x"\nGB_per_s = 0\n' + D, 3, "GB_per_s of level 'x' must be a number"),
        ('[[level]]\nname="x"\nalpha_us = -1\n' + D, 3, "not below zero, not -1"),
        ('[[level]]\nname="x"\nalpha_us = nan\n' + D, 3, "alpha_us of level 'x'"),
        ('[[level]]\nname="x"\n[[level]]\nname="x"\n' + D, 3, "two levels have the name 'x'"),
        (D + "\n# speed = 3\n" + '[[device]]\nname="b"\nspeed = "fast"\n', 8, "not 'fast'"),
        (D.replace("1", "0"), 3, "above zero, not 0"),
        (D.replace("1", "-2.5"), 3, "not -2.5"),
        (D.replace("1", "nan"), 3, "not nan"),
        (D.replace("1", "inf"), 3, "not inf"),
        (D.replace("1", "true"), 3, "not true"),
        (D.replace("1", "1e999999999999"), 3, "not inf"),
        (D.replace("1", "9" * 400), 3, "more than 30 digits"),
        (D.replace('"a"', '""'), 2, "name of device"),
        (D.replace('"a"', '" a"'), 1, "padded"),
        ("[[device]]\nspeed = 1\n", 1, "a device has no name"),
        ('[[device]]\nname = "a"\n', 1, "device 'a' has no speed"),
        (D + D, 4, "two devices have the name 'a'"),
        (D + '[[device]]\nname="b"\ncount=3\nspeed=1\n[[device]]\nname="b2"\nspeed=1', 8, "'b2'"),
        (D + "count = 0\n", 4, "count of device 'a'"),
        (D + "count = 1.0\n", 4, "count of device 'a'"),
        (D + "count = 1_000_000_000_000\n", 4, "whole number from 1 to"),
        (D + f"count = {MAX_DEVICES}\n" + D, 5, "devices; at most"),
        (D + "memory_GiB = 0\n", 4, "memory_GiB of device 'a'"),
        (D + "memory_GiB = 1e305\n", 4, "memory_GiB of device 'a'"),
        (D + 'at = "n0//s"\n', 4, "at of device 'a' must be a place"),
        (D + "kind = 3\n", 4, "kind of device 'a'"),
        (D + "fixed_seconds = -1\n", 4, "fixed_seconds of device 'a' must be a number not below"),
        (D + "watts = nan\n", 4, "watts of device 'a'"),
        (D + "cost_per_hours = 1\n", 4, "did you mean cost_per_hour"),
        ('[[level]]\nname="x"\nshared = 1\n' + D, 3, "shared of level 'x' must be true or false"),
        (D + "[device.capabilities]\nmips = 1\nvector = 'x'\n", 6, "table of numbers"),
        (D + "capabilities = { mips = inf }\n", 4, "table of numbers"),
        ('[[level]]\nname = "cluster"\n' + D + 'at = "n0"\n', 3, r"1 level\(s\) allow 0"),
        (D + '[[link]]\nbetween = ["a"]\n', 5, "two different places"),
        (D + '[[link]]\nbetween = ["a", "b"]\n', 4, "unknown place 'b'"),
        (D + '[[level]]\nname="l"\n[[link]]\nbetween = ["a", "b"]\n', 6, "not both"),
        (
            '[device]\nname = "a"\nspeed = 1\n',
            1,
            r"must be a list of tables, written as \[\[device\]\]",
        ),
        ("device = 3\n", 1, r"must be a list of tables, written as \[\[device\]\]"),
        ('x = """\n[[device]]\n"""\n' + D, 1, "unknown key 'x'"),
        ("name = 3\n" + D, 1, "name must be a text"),
        (D + "speed = 2\n", 4, "not valid TOML"),
        (D + "at = \n", 4, "not valid TOML"),
        (D + "at = [\n", 4, "not valid TOML"),
        ("", None, "empty"),
        (" \n\n", None, "empty"),
        ('name = "x"\n', None, r"no \[\[device\]\]"),
        ("a = " + "[" * 100_000, None, "not valid TOML"),
        (b"\x80\x81binary\x00", 1, "not a text in UTF-8"),
        (D.encode() + b"\xff", 4, "not a text in UTF-8"),
        (b"\x00\x01\x02", 1, "not valid TOML"),
    ],
)
def test_a_mistake_is_placed(read, text, line, message):
    with pytest.raises(InputError, match=message) as caught:
        read(text)
    assert caught.value.line == line
    assert caught.value.file.endswith("m.toml")


def test_what_is_no_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_platform(tmp_path / "none.toml")
    with pytest.raises(InputError, match="is a folder"):
        read_platform(tmp_path)
    with pytest.raises(InputError, match="null"):
        read_platform("a\0b")


def test_a_name_that_utf8_cannot_write_leaves_no_file(tmp_path):
    with pytest.raises(InputError, match="UTF-8"):
        write_platform(tmp_path / "x.toml", Platform((Device("\ud800", 1.0),)))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@with_examples(400, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_files_are_read_or_refused(tmp_path, data):
    text = bytearray(ISSUE.encode())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        kind = data.draw(st.sampled_from(["put", "cut", "copy", "word"]))
        if kind == "put":
            text[at : at + 1] = data.draw(st.binary(max_size=3))
        elif kind == "cut":
            del text[at : at + data.draw(st.integers(1, 40))]
        elif kind == "copy":
            text[at:at] = text[at // 2 : at // 2 + data.draw(st.integers(1, 60))]
        else:
            words = [b"true", b"1e400", b"nan", b"[[link]]\n", b"1979-05-27", b"{}", b"=", b"0x1f"]
            text[at:at] = data.draw(st.sampled_from(words))
    path = tmp_path / "m.toml"
    path.write_bytes(bytes(text))
    try:
        platform = read_platform(path)
    except InputError as error:
        assert error.file == str(path)
        assert 1 <= (error.line or 1) <= text.count(b"\n") + 1
        assert len(str(error).split("\n")) <= 3
    else:
        assert platform.k <= 10_000_000
        assert (platform.speeds > 0).all()


def test_keys_of_the_writer_are_keys_of_the_reader(read):
    written = set(re.findall(r"^(\w+) =", platform_to_toml(read(ISSUE)), re.MULTILINE))
    assert written <= {"name", "count", "at", "kind", "speed", "memory_GiB", "memory_units",
                       "alpha_us", "GB_per_s", "mips"}  # fmt: skip
    assert written & set(string.ascii_letters) == set()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"devices": []}, "at least one device"),
        ({"devices": None}, "devices of platform 'x' must be a list"),
        ({"devices": [3]}, r"must be a list of tables, written as \[\[devices\]\]"),
        ({"devices": [{"name": "a"}]}, "no speed"),
        ({"devices": [{"name": "a", "speed": math.nan}]}, "above zero"),
        ({"devices": [{"name": "a", "speed": 1, "colour": 2}]}, "unknown key 'colour'"),
        ({"levels": [{"name": "l", "alpha_s": -1.0}]}, "alpha_s of levels 'l'"),
        ({"links": [{"between": ["a", 3]}]}, "two different places"),
        ({"name": 3}, "name"),
    ],
)
def test_a_dict_that_is_no_platform(change, message):
    good = {"name": "x", "devices": [{"name": "a", "speed": 1}], "levels": [], "links": []}
    assert platform_from_dict(good).k == 1
    with pytest.raises(InputError, match=message):
        platform_from_dict(good | change)


def test_a_dict_that_is_no_dict():
    with pytest.raises(InputError, match="table"):
        platform_from_dict([1, 2])
