"""The site has every page and every public name, and loads nothing from elsewhere."""

import json
import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest

import evener as ev

pytest.importorskip("mkdocs")
pytest.importorskip("material")
ROOT = Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))


def module_of_site(name):
    spec = spec_from_file_location(f"site_{name}", ROOT / "docs" / "site" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hooks():
    return module_of_site("hooks")


@pytest.fixture(scope="module")
def parameters():
    return module_of_site("parameters")


def pages_in(nav):
    for entry in nav:
        for below in entry.values():
            yield from [below] if isinstance(below, str) else pages_in(below)


def test_the_navigation_has_every_page_once(hooks):
    nav = hooks.on_config(SimpleNamespace(nav=None)).nav
    assert [next(iter(entry)) for entry in nav] == ["Home", "Learn", "Do", "Look up", "Understand"]
    found = list(pages_in(nav))
    assert len(found) == len(set(found))
    assert {str(page) for page in PAGES} <= set(found)


def test_every_public_name_has_a_place(hooks):
    named = [name for page in hooks.NAMES for name in hooks.names_of(page)]
    assert sorted(named) == sorted(ev.__all__)
    assert hooks.home_of("plan") == "evener.planning.plan.plan"
    assert hooks.home_of("WORKLOADS") == "evener.plans.workload.WORKLOADS"


SENTENCES = (
    "low, high (k,) [units]: limits; caps (as low), or None. x: a size [B]. All are copied. So."
)
LIST = (
    "- **`low`**, **`high`** (k,) [units]: limits\n- **`caps`** (as low), or None.\n"
    "- **`x`**: a size [B].\n\nAll are copied. So."
)


@pytest.mark.parametrize(("text", "names", "shown"), [
    (SENTENCES, ["low", "high", "caps", "x"], LIST),
    ("x: one name alone is a sentence.", ["x"], "x: one name alone is a sentence."),
    ("    code: kept\n    x: kept", ["code", "x"], "    code: kept\n    x: kept"),
    ("All follow. a is first; b (n, 2) and c are kept.", ["a", "b", "c"],
     "All follow.\n\n- **`a`** is first\n- **`b`** (n, 2) and **`c`** are kept."),
])  # fmt: skip
def test_parameters_in_sentences_become_lists(parameters, text, names, shown):
    first = "Returns what is asked.\n\n"
    assert parameters.listed(first + text, names) == first + shown


@pytest.mark.parametrize(("link", "here", "there"), [
    ("[a](../CONTRIBUTING.md#rules)", "cli.md", "[a](contributing.md#rules)"),
    ("[a](../examples/halo_mpi.py)", "running.md", "[a](examples/halo_mpi.md)"),
    ("[a](../examples/integrations/petsc_matrix.py)", "integrations.md", "a"),
    ("[a](../../benchmarks/results)", "results/README.md", "a"),
    ("[a](../prediction.md#the-search)", "results/README.md", "[a](../prediction.md#the-search)"),
    ("[a](docs/prediction.md#the-search)", "overview.md", "[a](prediction.md#the-search)"),
    ("![a](docs/images/report.png)", "overview.md", "![a](images/report.png)"),
    ("[a](images/partitioner.py)", "partitioner.md", "a"),
    ("[a](https://doi.org/x)", "cli.md", "[a](https://doi.org/x)"),
])  # fmt: skip
def test_links_out_of_the_documentation(hooks, link, here, there):
    page = SimpleNamespace(file=SimpleNamespace(src_uri=here), meta={})
    assert hooks.on_page_markdown(link, page=page, config=None, files=None) == there


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make site` does, where a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, check=False,
                          env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_whole_and_loads_nothing(site):
    loads = re.compile(r"""<(?:script|img|source|iframe)[^>]*\bsrc=["']?([^"' >]+)|"""
                       r"""<link[^>]*\bhref=["']?([^"' >]+)""")  # fmt: skip
    for page in site.rglob("*.html"):
        for found in loads.finditer(page.read_text()):
            name = found[1] or found[2]
            assert not re.match(r"(https?:)?//", name), (page, name)
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text()), style
    names = "".join(page.read_text() for page in (site / "names").glob("*.html"))
    for name in ev.__all__:
        assert re.search(rf'id="evener\.[\w.]+\.{name}"', names), name
    assert "[LDHT]_" not in names
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    assert any("certificate" in entry["text"] for entry in found)
