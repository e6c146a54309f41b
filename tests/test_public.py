"""The public names: each there, documented, and imported no sooner than used."""

import ast
from importlib.metadata import version
from pathlib import Path

import pytest

import evener as ev
from tests.assertions import printed_by

HEAVY = ("numpy", "scipy", "numba", "matplotlib", "meshio", "meshlane", "rich")


@pytest.mark.parametrize("name", ev.__all__)
def test_every_name_is_there_and_documented(name):
    value = getattr(ev, name)
    assert value.__doc__
    assert not value.__doc__.startswith(f"{name}(")  # what dataclass makes up
    assert name in dir(ev)


def test_all_is_what_type_checkers_see():
    tree = ast.parse(Path(ev.__file__).with_suffix(".pyi").read_text())
    seen = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name  # else checkers take it for private
    }
    assert seen.pop("metrics") == "evener.plans"
    assert seen == ev._HOME
    assert ev.metrics.__name__ == "evener.plans.metrics"
    assert sorted(seen) == ev.__all__


def test_importing_imports_nothing_heavy():
    code = f"import evener, sys; print([m for m in {HEAVY} if m in sys.modules])"
    assert printed_by(code) == "[]\n"


def test_the_version_is_the_package_s():
    assert ev.__version__ == version("evener")
    assert "__version__" in dir(ev)


def test_unknown_names():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ev.nothing  # noqa: B018
