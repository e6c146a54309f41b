"""Packages of other programs: imported when they are needed, or refused with how to get them."""

import sys

import pytest

from evener.errors import ToolError
from evener.integrations.packages import DEBIAN, package


def test_a_module_of_a_package():
    assert package("xml.dom").__name__ == "xml.dom"


@pytest.mark.parametrize("name", DEBIAN)
def test_what_is_not_installed(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ToolError, match=f"cannot import {name}") as raised:
        package(name)
    assert f"apt-get install {DEBIAN[name]}" in raised.value.hint


def test_what_pypi_has(monkeypatch):
    monkeypatch.setitem(sys.modules, "gmsh", None)
    with pytest.raises(ToolError, match="cannot import gmsh") as raised:
        package("gmsh")
    assert "pip install 'evener[integrations]'" in raised.value.hint
