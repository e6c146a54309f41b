"""XML of other programs: what is read, and what is refused before it costs anything."""

import time

import pytest

from evener.errors import InputError
from evener.io import xml_tree as reader
from evener.io.xml_tree import outermost, xml_tree

BOMB = b"""<!DOCTYPE topology [<!ENTITY a "xxxxxxxxxx">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
]><topology>&c;</topology>"""


def read(content):
    return xml_tree(content, "topology", "a.xml")


def test_a_tree_with_attributes_and_text():
    tree = read(b'<!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology><a b="1">c</a>d</topology>')
    assert (tree[0].tag, tree[0].attrib, tree[0].text, tree[0].tail) == ("a", {"b": "1"}, "c", "d")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings_that_xml_names(encoding):
    name = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{name}"?><topology a="é"/>'
    assert read(text.encode(encoding)).get("a") == "é"
    assert outermost(text.encode(encoding)) == "topology"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no element found"),
        (b"text", "not well-formed"),
        (b"<topology>", "no element found"),
        (b"<topology><a></topology>", "mismatched tag"),
        (b"<other/>", "outermost element <other>, not <topology>"),
        (BOMB, "declares its own document type"),
        (BOMB.decode().encode("utf-16-le"), "declares its own document type"),
        (b'<?xml version="1.0" encoding="utf-16"?>'.decode().encode("utf-16-le")
         + BOMB.decode().encode("utf-16-le"), "declares its own document type"),
        (b'<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><topology>&x;</topology>',
         "declares its own document type"),
        (b"<topology>&x;</topology>", "undefined entity"),
        (b'<?xml version="1.0" encoding="ebcdic-of-mars"?><topology/>', "unknown encoding"),
        (b'<?xml version="1.0" encoding="shift_jis"?><topology/>', "encoding"),
        (b"<topology>" + b"<a>" * 200, "nested elements"),
    ],
)  # fmt: skip
def test_what_is_refused(content, message):
    with pytest.raises(InputError, match=message) as found:
        read(content)
    assert found.value.file == "a.xml"


def test_any_outermost_element_and_number_of_others(monkeypatch):
    monkeypatch.setattr(reader, "MOST_ELEMENTS", 10)
    tree = xml_tree(b'<a xmlns="u">' + b"<b/>" * 20 + b"</a>", None, "a.xml")
    assert len(tree) == 20
    assert {one.tag.rpartition("}")[2] for one in tree} == {"b"}
    with pytest.raises(InputError, match="declares its own document type"):
        xml_tree(BOMB.decode().encode("utf-16"), None, "a.xml")


def test_the_line_is_said():
    with pytest.raises(InputError) as found:
        read(b"<topology>\n<a>\n</b>\n</topology>")
    assert found.value.line == 3


def test_the_number_of_elements_is_bounded(monkeypatch):
    monkeypatch.setattr(reader, "MOST_ELEMENTS", 10)
    assert len(read(b"<topology>" + b"<a/>" * 9 + b"</topology>")) == 9
    with pytest.raises(InputError, match="more than 10 elements"):
        read(b"<topology>" + b"<a/>" * 10 + b"</topology>")


def test_a_bomb_costs_nothing():
    began = time.process_time()
    with pytest.raises(InputError):
        read(BOMB)
    assert time.process_time() - began < 1


def test_files_that_are_no_xml_have_no_outermost_element():
    assert [outermost(text) for text in (b"", b"NodeName=a", b"<a", b"\0\0")] == [""] * 4
    assert outermost(b"<topology><cut") == "topology"
