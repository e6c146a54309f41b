"""Sets of processors, numbers and addresses as hwloc writes them."""

from xml.etree import ElementTree as ET

import pytest

from evener.errors import InputError
from evener.io.machines.hwloc_values import (
    ANY,
    bitmap,
    bus_address,
    cpus_of,
    infos_of,
    number_of,
    whole,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0x0", 0), ("0x0000000f", 15), ("0x00000001,0x80000000", (1 << 32) + (1 << 31)),
     ("0x1,,0x2", (1 << 64) + 2), ("0xf...f", ANY), (None, ANY), ("", 0),
     ("0xf...f,0x0", -1 << 32), ("0xf...f,,0x3", (-1 << 64) + 3)],
)  # fmt: skip
def test_bitmaps(text, value):
    assert bitmap(text, "x") == value


def test_an_endless_set_has_all_processors_from_some_on():
    assert cpus_of(bitmap("0xf...f,0x00000001", "x"), range(70)) == {0, *range(32, 70)}
    assert cpus_of(ANY, [5, 99]) == {5, 99}


@pytest.mark.parametrize("text", ["all", "0x", "0x123456789", "0xg", "1", "0x1;0x2", "-0x1", "0-3"])
def test_what_is_no_bitmap(text):
    with pytest.raises(InputError, match="that is not a bitmap"):
        bitmap(text, "x")


def test_numbers_of_objects():
    element = ET.fromstring('<object type="PU" a="7" b="-1" c="4294967295" d="x"/>')
    assert [number_of(element, key, "x", 10, 3) for key in "abce"] == [7, 3, 3, 3]
    for key, message in (("d", "d of a PU must be a whole number below 10, not 'x'"),
                         ("e", "a PU without e")):  # fmt: skip
        with pytest.raises(InputError, match=message):
            number_of(element, key, "x", 10)
    assert (whole(" 5 ", "a", "x", 9), whole(None, "a", "x", 9)) == (5, 0)
    with pytest.raises(InputError, match="below 9, not '9'"):
        whole("9", "a", "x", 9)


def test_infos_are_those_of_the_object_alone():
    element = ET.fromstring('<o><info name="a" value="1"/><o><info name="b" value="2"/></o></o>')
    assert infos_of(element) == {"a": "1"}


def test_pci_addresses_of_both_programs():
    assert bus_address("00000000:3B:00.0") == bus_address("0000:3b:00.0") == "0000:3b:00.0"
    assert bus_address("") == bus_address("N/A") == ""
