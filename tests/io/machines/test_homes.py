"""The keys host, cores and gpu of machine files, read and written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.io.machines.platform_dicts import platform_from_dict, platform_to_dict
from evener.io.machines.platforms import platform_of_tables, platform_to_toml, read_platform
from evener.platforms.platform import Device, Link, Platform

D = '[[device]]\nname = "d"\nspeed = 1\n'
C = D + "count = 3\n"
UUID = "GPU-8f6d5c2e-1111-2222-3333-444455556666"


def read_back(text):
    import tomllib

    return platform_of_tables(tomllib.loads(text))


def homes(platform):
    return [(device.node, device.cores, device.gpu) for device in platform.devices]


@pytest.fixture
def read(tmp_path):
    def of(text):
        path = tmp_path / "m.toml"
        path.write_text(text)
        return read_platform(path)

    return of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (D + 'host = "n1"\ncores = "0-1,4"\ngpu = 1\n', [("n1", (0, 1, 4), 1)]),
        (D + "cores = [4, 0]\n", [("", (0, 4), None)]),
        (D + f'cores = 3\ngpu = "{UUID}"\n', [("", (3,), UUID)]),
        (
            C + 'host = "n1"\ncores = [0, "2-3", [5, 4]]\n',
            [("n1", (0,), None), ("n1", (2, 3), None), ("n1", (4, 5), None)],
        ),
        (
            C + 'host = ["a", "b", "c"]\ncores = "0-1"\ngpu = 0\n',
            [(node, (0, 1), 0) for node in "abc"],
        ),
        (C + "gpu = [2, 1, 0]\n", [("", (), 2), ("", (), 1), ("", (), 0)]),
        (C.replace("3", "1") + 'host = ["a"]\ncores = "0-1"\n', [("a", (0, 1), None)]),
    ],
)
def test_where_devices_are(read, text, found):
    assert homes(read(text)) == found
    assert homes(read(platform_to_toml(read(text)))) == found


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (D + 'host = "a b"\n', 4, "host of device 'd': a computer's name must consist of letters"),
        (
            D + 'host = ["a"]\n',
            4,
            "a list has one entry for each device of a table, but count is 1",
        ),
        (D + 'host = ""\n', 4, "host of device 'd' must be the name of a computer"),
        (D + "host = 1\n", 4, "a computer's name must consist of letters"),
        (D + 'cores = "0-x"\n', 4, "cores of device 'd': cores must be numbers and ranges"),
        (D + "cores = []\n", 4, "cores of device 'd' must be a text such as"),
        (D + "cores = [0, 1.5]\n", 4, "a core must be a whole number from 0"),
        (D + "cores = -1\n", 4, "cores of device 'd' must be"),
        (
            D + "gpu = [0, 1]\n",
            4,
            "gpu of device 'd': a list has one entry for each device of a table, but count is 1",
        ),
        (D + 'gpu = "first"\n', 4, "a gpu must be an index, from 0, or a UUID"),
        (C + "cores = [0, 1]\n", 5, "2 entries, but the table has 3 devices"),
        (C + "cores = [0, 1, []]\n", 5, "omit this key"),
        (C + 'cores = "0-3"\n', 5, "3 devices on one computer, but one cores for all"),
        (C + 'host = "a"\ngpu = 0\n', 6, "3 devices on one computer, but one gpu for all"),
        (C + 'host = ["a", "b", "a"]\ngpu = 0\n', 6, "one gpu for all"),
        (D + 'hostname = "n"\n', 4, "did you mean host"),
        (D + "cpus = 1\n", 4, "did you mean cores"),
        (D + D.replace('"d"', '"g"') + 'host = "d"\n', 4, "'d', .* but no host_GB_per_s"),
        (D + 'host = "d"\nhost_alpha_us = 1\n', 4, "has a host, but no host_GB_per_s"),
        (D + 'host = ["d"]\nhost_GB_per_s = 1\n', 4, "`host` must name a single device"),
    ],
)
def test_mistakes_are_placed(read, text, line, said):
    with pytest.raises(InputError, match=said) as caught:
        read(text)
    assert caught.value.line == line


def test_advice_for_one_value_of_several(read):
    with pytest.raises(InputError) as caught:
        read(C + 'cores = "0-3"\n')
    assert 'cores = ["0-3", "4-7", ...]' in caught.value.hint


def test_a_device_behind_another_is_in_its_computer(read):
    text = C + 'host = ["a", "b", "c"]\n'
    text += C.replace('"d"', '"g"') + 'host = "d"\nhost_GB_per_s = 16\ngpu = [0, 0, 0]\n'
    platform = read(text)
    assert homes(platform)[3:] == [(node, (), 0) for node in "abc"]
    assert read(platform_to_toml(platform)) == platform


def test_cores_do_not_part_a_table(read):
    devices = tuple(
        Device(f"c{i}", 1.0, node=f"n{i // 2}", cores=(2 * i % 4, 2 * i % 4 + 1)) for i in range(4)
    )
    text = platform_to_toml(Platform(devices))
    assert text.count("[[device]]") == 1
    assert 'host = ["n0", "n0", "n1", "n1"]\ncores = ["0-1", "2-3", "0-1", "2-3"]\n' in text
    assert read(text).devices == devices


def test_without_homes_nothing_is_written():
    text = platform_to_toml(Platform((Device("a", 1.0), Device("b", 2.0))))
    assert not {"host", "cores", "gpu"} & set(text.replace("=", " ").split())
    assert set(platform_to_dict(Platform((Device("a", 1.0),)))["devices"][0]) == {
        "name", "kind", "speed"
    }  # fmt: skip


@st.composite
def placed(draw):
    numbers = draw(st.lists(st.integers(0, 12), min_size=1, max_size=5, unique=True))
    stem = draw(st.sampled_from(["d", "x-"]))
    devices = []
    for i in sorted(numbers):
        behind = bool(devices) and draw(st.booleans())
        link = {"host": devices[0].name, "host_link": Link(0.0, 1e-9)} if behind else {}
        node = devices[0].node if behind else draw(st.sampled_from(["", "n1", "n2"]))
        cores = draw(st.sets(st.integers(0, 9), max_size=4))
        gpu = draw(st.sampled_from([None, 0, 1, UUID]))
        devices.append(Device(f"{stem}{i}", 1.0, **link, node=node, cores=tuple(cores), gpu=gpu))
    return Platform(tuple(devices))


@given(placed())
def test_nothing_is_lost(platform):
    assert read_back(platform_to_toml(platform)) == platform
    assert platform_from_dict(json.loads(json.dumps(platform_to_dict(platform)))) == platform
