"""Reads XML of other programs safely: without entities, with limited depth and size."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from xml.parsers import expat

from evener.errors import InputError

MOST_BYTES = 1 << 26  # far more than nvidia-smi writes
MOST_ELEMENTS = 1_000_000
_HEAD = 1 << 14  # bytes in which the outermost element must begin
DEEPEST = 100  # nested elements; nvidia-smi nests fewer than 10


def outermost(content: bytes) -> str:
    """Return the name of the outermost element; "" if the content is not XML."""
    parser, names = expat.ParserCreate(), list[str]()
    parser.StartElementHandler = lambda name, _: names.append(name)
    # Only the names found before the error matter.
    with suppress(expat.ExpatError, LookupError, ValueError):
        parser.Parse(content[:_HEAD], False)
    return names[0] if names else ""


def elements(parent: ET.Element, tag: str) -> list[ET.Element]:
    """Return the children with this name, in any namespace."""
    return [child for child in parent if child.tag.rpartition("}")[2] == tag]


def attribute(element: ET.Element, key: str, file: str | Path) -> str:
    """Return an attribute. Raises InputError if it is missing or empty."""
    value = element.get(key)
    if not value:
        raise InputError(f"has a {element.tag.rpartition('}')[2]} without {key}", file=file)
    return value


def xml_tree(content: bytes, root: str | None, file: str | Path) -> ET.Element:
    """Return the tree of an XML file whose outermost element is called `root`.

    If `root` is None, any outermost element and any number of elements are accepted, and names
    include namespaces as in ElementTree. A DOCTYPE that names a file is ignored, and the file is
    not opened; a DOCTYPE that declares entities is refused. Raises InputError, with the line, if
    the file is not such XML.
    """
    parser = expat.ParserCreate(namespace_separator=None if root is not None else "}")
    builder = _Builder(root, parser, file)
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.tree.data
    parser.StartDoctypeDeclHandler = builder.doctype
    parser.EntityDeclHandler = builder.entity
    parser.buffer_text = True
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise InputError(
            f"is not well-formed XML: {reason}",
            file=file,
            line=error.lineno,
            hint="The file may be cut short, or the output of a program that failed.",
        ) from error
    except (LookupError, ValueError) as error:
        raise InputError(f"has an unknown encoding: {error}", file=file, line=1) from error
    return builder.tree.close()


class _Builder:
    """Builds the tree while XML is parsed; refuses constructs that known programs never write."""

    def __init__(self, root: str | None, parser: Any, file: str | Path) -> None:
        self.tree = ET.TreeBuilder()
        self.root, self.parser, self.file = root, parser, file
        self.depth = self.count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.depth == 0 and self.root not in (None, name):
            raise self._error(f"has the outermost element <{name[:40]}>, not <{self.root}>")
        self.depth += 1
        self.count += 1
        if self.depth > DEEPEST or (self.count > MOST_ELEMENTS and self.root is not None):
            raise self._error(
                f"has more than {DEEPEST} nested elements"
                if self.depth > DEEPEST
                else f"has more than {MOST_ELEMENTS:,} elements"
            )
        self.tree.start(name, attributes)

    def end(self, name: str) -> None:
        self.depth -= 1
        self.tree.end(name)

    def doctype(self, _: str, __: str | None, ___: str | None, has_own_part: bool) -> None:
        if has_own_part:
            raise self._error("declares its own document type, which Evener does not read")

    def entity(self, name: str, *_: object) -> None:
        raise self._error(f"declares the entity {name[:40]!r}, which Evener does not read")

    def _error(self, message: str) -> InputError:
        return InputError(message, file=self.file, line=self.parser.CurrentLineNumber)
