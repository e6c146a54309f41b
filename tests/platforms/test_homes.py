"""Cores, computers and GPUs by name, and what a platform refuses of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.platforms.homes import MOST_CORES, check_node, cores_of_text, cores_text
from evener.platforms.platform import Device, Link, Platform

BUS = Link(1e-6, 1e-10)


@pytest.mark.parametrize(
    ("text", "cores"),
    [("0", (0,)), ("0-3,8", (0, 1, 2, 3, 8)), ("8, 0 - 1", (0, 1, 8)), ("5-5", (5,))],
)
def test_cores_of_a_text(text, cores):
    assert cores_of_text(text) == cores


@given(st.sets(st.integers(0, 40), min_size=1))
def test_the_text_of_cores_is_read_back(cores):
    assert cores_of_text(cores_text(cores)) == tuple(sorted(cores))


def test_runs_of_cores_are_ranges():
    assert cores_text([8, 1, 0, 2]) == "0-2,8"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not ''"),
        ("0-", "not '0-'"),
        ("3-1", "not '3-1'"),
        ("a", "not 'a'"),
        ("-1", "not '-1'"),
        ("1;2", "not '1;2'"),
        ("0-3,2", "core 2 appears twice"),
        ("0-999999999", "core 999999999 does not exist: core numbers are below"),
        (str(MOST_CORES), "does not exist: core numbers are below"),
    ],
)
def test_texts_that_name_no_cores(text, said):
    with pytest.raises(InputError, match=said):
        cores_of_text(text)


@pytest.mark.parametrize("node", ["n 1", "a;b", "-n", "n=1", "$(x)", "n\n", "ü", "a/b"])
def test_names_of_no_computer(node):
    with pytest.raises(InputError, match="a computer's name"):
        check_node(node)


@pytest.mark.parametrize(
    ("traits", "said"),
    [
        ({"node": "a b"}, "device 'd': a computer's name"),
        ({"cores": (0, 0)}, "device 'd': core 0 appears twice"),
        ({"cores": (-1,)}, "a core must be a whole number"),
        ({"cores": (True,)}, "a core must be a whole number"),
        ({"gpu": -1}, "device 'd': a gpu must be an index"),
        ({"gpu": True}, "a gpu must be an index"),
        ({"gpu": "0; rm"}, "a gpu must be an index"),
        ({"gpu": "cuda0"}, "a gpu must be an index"),
    ],
)
def test_devices_that_are_nowhere(traits, said):
    with pytest.raises(InputError, match=said):
        Device("d", 1.0, **traits)


def test_a_device_knows_where_it_is():
    device = Device("d", 1.0, node="n1.cluster", cores=[3, 1], gpu="MIG-GPU-1a-2b/1/0")
    assert (device.node, device.cores, device.gpu) == ("n1.cluster", (1, 3), "MIG-GPU-1a-2b/1/0")


def test_a_device_is_in_the_computer_of_its_host():
    cpu = Device("cpu", 1.0, node="n1")
    gpu = Device("gpu", 1.0, host="cpu", host_link=BUS, gpu=0)
    assert [device.node for device in Platform((cpu, gpu)).devices] == ["n1", "n1"]


@pytest.mark.parametrize(
    ("devices", "said"),
    [
        (
            [Device("c", 1.0, node="n1"), Device("g", 1.0, host="c", host_link=BUS, node="n2")],
            "'g' is in 'n2', but its host 'c' is in 'n1'",
        ),
        (
            [Device("c", 1.0), Device("g", 1.0, host="c", host_link=BUS, node="n2")],
            "its host 'c' is in no stated computer",
        ),
        ([Device("cpu", 1.0), Device("gpu", 1.0, node="cpu")], "no host_GB_per_s"),
        ([Device("cpu0", 1.0), Device("gpu", 1.0, node="cpu")], "the name of device 'cpu0'"),
    ],
)
def test_computers_that_contradict(devices, said):
    with pytest.raises(InputError, match=said):
        Platform(tuple(devices))


@pytest.mark.parametrize("names", [("n1", "n1-gpu"), ("n10", "n11")])
def test_devices_may_be_called_as_their_own_computer(names):
    node = names[0].rstrip("0")
    assert Platform(tuple(Device(name, 1.0, node=node) for name in names)).k == 2
