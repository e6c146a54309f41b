"""[[network]] tables and hosts in machine files."""

import pytest

from evener.errors import InputError
from evener.io.machines.platforms import read_platform, write_platform
from evener.platforms import examples
from evener.platforms.device import Connection, Link

PES = '[[device]]\nname = "pe"\ncount = 64\nspeed = 1\n'
RATE = "alpha_us = 0.5\nGB_per_s = 40\n"


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        (tmp_path / "m.toml").write_text(text)
        return read_platform(tmp_path / "m.toml")

    return read_text


@pytest.mark.parametrize(
    ("table", "made"),
    [
        ('kind = "mesh"\nshape = [8, 8]\n', examples.grid([8, 8])),
        ('kind = "torus"\nshape = [4, 4, 4]\n', examples.grid([4, 4, 4], wrap=True)),
        ('kind = "star"\n', examples.star(64)),
        ('kind = "fat-tree"\narity = 4\n', examples.fat_tree(64, 4)),
    ],
)
def test_sixty_four_devices_in_a_few_lines(read, tmp_path, table, made):
    platform = read(f"{PES}[[network]]\n{table}{RATE}")
    assert platform.devices == made.devices
    assert platform.connections == made.connections
    write_platform(tmp_path / "again.toml", platform)
    assert read_platform(tmp_path / "again.toml") == platform


def test_two_networks_joined_by_a_link(read):
    platform = read(
        '[[device]]\nname = "a"\ncount = 3\nspeed = 1\n[[device]]\nname = "b"\nspeed = 1\n'
        '[[device]]\nname = "c"\nspeed = 1\n'
        '[[network]]\nkind = "star"\nname = "left"\ndevices = "a"\nGB_per_s = 1\nshared = true\n'
        '[[network]]\nkind = "star"\nname = "right"\ndevices = ["b", "c"]\nGB_per_s = 2\n'
        '[[link]]\nbetween = ["left", "right"]\nGB_per_s = 4\n'
    )
    assert [one.between for one in platform.connections] == [
        ("left", "right"), ("a0", "left"), ("a1", "left"), ("a2", "left"),
        ("b", "right"), ("c", "right"),
    ]  # fmt: skip
    assert [one.shared for one in platform.connections] == [False, True, True, True, False, False]


HOSTED = """\
[[device]]
name = "cpu"
count = 2
mips = 20000
[[device]]
name = "gpu"
count = 4
mips = 2000
host = "cpu"
host_alpha_us = 5
host_GB_per_s = 16
[[link]]
between = ["cpu0", "cpu1"]
GB_per_s = 10
"""


def test_hosts(read, tmp_path):
    platform = read(HOSTED)
    assert [device.host for device in platform.devices[2:]] == ["cpu0", "cpu0", "cpu1", "cpu1"]
    assert platform.devices[2].host_link == Link(5e-6, 1 / 16e9)
    assert [device.at for device in platform.devices[2:]] == ["cpu0", "cpu0", "cpu1", "cpu1"]
    write_platform(tmp_path / "again.toml", platform)
    assert read_platform(tmp_path / "again.toml") == platform
    behind = read("gpu_behind_host = true\n" + HOSTED)
    assert behind.connections[1] == Connection(("cpu0", "gpu0"), Link(5e-6, 1 / 16e9))
    assert len(behind.connections) == 5


def test_a_host_of_all(read):
    platform = read(HOSTED.replace('host = "cpu"', 'host = "cpu1"'))
    assert {device.host for device in platform.devices[2:]} == {"cpu1"}


STAR = PES + '[[network]]\nkind = "star"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STAR.replace("star", "tours"), r"toml:6: there is no kind of network 'tours'.*torus"),
        (STAR.replace("star", "mesh"), "toml:5: a mesh needs the key shape"),
        (STAR + "arity = 2\n", "toml:7: a star must not have the key arity"),
        (
            STAR.replace("star", "mesh") + "shape = [8, 9]\n",
            "toml:5: .*72 places, but there are 64 devices",
        ),
        (STAR.replace("star", "mesh") + "shape = [8, 0]\n", "toml:7: shape .* whole numbers above"),
        (
            STAR.replace("star", "fat-tree") + "arity = 1\n",
            "toml:5: the arity of a fat tree must be >= 2, not",
        ),
        (STAR + 'devices = ["pa"]\n', "toml:7: a network lists 'pa', which is no"),
        (STAR + 'name = "pe3"\n', "toml:5: a switch and a device both have the name 'pe3'"),
        (
            STAR + '[[network]]\nkind = "star"\n',
            "toml:7: 'switch' is the name of a switch of this network, but also of something else",
        ),
        (STAR + "bandwidth = 3\n", "unknown key 'bandwidth'.*did you mean GB_per_s"),
        (STAR + 'devices = ["pe3", "pe4"]\n', "toml:1: no link reaches device 'pe0'"),
        (
            HOSTED.replace('host = "cpu"', 'host = "cpi"'),
            "toml:9: the host of device 'gpu0', 'cpi', is not a device",
        ),
        (HOSTED.replace("count = 4", "count = 3"), "toml:9: 3 devices 'gpu0', ... cannot"),
        (HOSTED.replace("host_GB_per_s = 16\n", ""), "toml:9: .*gpu0' has a host, but no host_GB"),
        (HOSTED.replace('host = "cpu"\n', ""), "toml:5: .*needs another device as host"),
        (HOSTED.replace('cpu1"]', 'gpu0"]'), "no link reaches device 'cpu1'"),
        ("gpu_behind_host = true\n" + PES, "toml:1: no device of this machine has a host"),
        ("gpu_behind_host = 1\n" + PES, "toml:1: gpu_behind_host must be true or false"),
    ],
)
def test_mistakes_are_placed(read, text, said):
    with pytest.raises(InputError, match=said):
        read(text)
