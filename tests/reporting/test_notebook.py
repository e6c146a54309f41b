"""What notebooks show: nothing loaded, no script, names escaped, the figures of the objects."""

import base64
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import nbclient
import nbformat
import pytest
from PIL import Image

import evener as ev
from evener.plans.plan import MOST_DRAWN
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, quads, stripes

EVIL = "<script>alert(1)</script>"
# What JupyterLab leaves of a notebook that it does not trust; it drops <style> and <svg>.
KEPT_TAGS = {
    "b", "details", "div", "em", "i", "img", "p", "span", "summary", "table", "tbody", "td", "th",
    "thead", "tr",
}  # fmt: skip


class Tags(HTMLParser):
    """Collects tags, what they load, and checks that each is closed."""

    VOID = ("img",)

    def __init__(self, html):
        super().__init__()
        self.tags, self.loads, self.open = [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [v for k, v in attributes if k in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [v for k, v in attributes if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def plan():
    """Of a mesh, with names that are no HTML."""
    mesh = quads(12, 12)
    names = [EVIL, "b&b", '"c"']
    made = plan_of(mesh.dual_graph(), stripes(12, 12, 3), machine(3, names=names))
    return replace(made, source=(mesh.dual_graph(), mesh))


@pytest.fixture(scope="module")
def shown(plan):
    graph = grid(12, 12)
    results = ev.compare(graph, [3, 2, 1], ["rcb", "hilbert"])
    return {
        "plan": plan._repr_html_(),
        "without places": replace(plan, source=None)._repr_html_(),
        "platform": plan.platform._repr_html_(),
        "evaluation": plan.evaluation._repr_html_(),
        "comparisons": results._repr_html_(),
        "comparison": results[0]._repr_html_(),
        "advice": ev.advise(graph, [3, 2, 1])._repr_html_(),
    }


KINDS = (
    "plan", "without places", "platform", "evaluation", "comparisons", "comparison", "advice"
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_fragment_that_loads_nothing(shown, kind):
    tags = Tags(shown[kind])
    assert set(tags.tags) <= KEPT_TAGS
    assert all(one.startswith("data:image/png;base64,") for one in tags.loads)
    assert not re.search(r"https?:|@import|url\(", shown[kind])
    assert EVIL not in shown[kind]
    assert len(shown[kind]) < 500_000


@pytest.mark.slow
def test_pictures_are_images(shown, plan):
    assert plan.verdict().split(";")[0] in shown["plan"].replace("\N{NO-BREAK SPACE}", " ")
    for kind in ("plan", "without places", "advice"):
        (uri,) = Tags(shown[kind]).loads
        picture = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
        assert picture.getextrema()[0] == (0, 255), kind  # something is drawn
    assert shown["plan"] != shown["without places"]
    assert "&lt;script&gt;" in shown["plan"]
    assert "&lt;script&gt;" in shown["platform"]


@pytest.mark.slow
def test_tables_hold_the_figures(shown, plan):
    for b, volume in enumerate(plan.certificate.volumes):
        assert re.search(rf'<th scope="row"[^>]*>{b}</th>.*<td[^>]*>{volume}</td>',
                         shown["evaluation"])  # fmt: skip
    assert shown["comparisons"].count("<tr>") == 3
    assert "hilbert" not in shown["comparison"]


def test_long_tables_are_cut_and_say_so():
    platform = ev.Platform.flat([float(i + 1) for i in range(100)])
    plan = plan_of(grid(20, 20), stripes(20, 20, 20).repeat(1), ev.Platform.flat([1.0] * 20))
    html = platform._repr_html_()
    assert html.count("<tr>") <= 42
    assert "more kind" in html or "more" in html
    assert plan.evaluation._repr_html_().count("<tr>") == 21


def test_large_graphs_are_not_kept(monkeypatch):
    monkeypatch.setattr("evener.planning.in_memory.MOST_DRAWN", 100)
    assert MOST_DRAWN > 100
    assert ev.plan(grid(12, 12), 2, tool="rcb", objective="cut").source is None
    assert ev.plan(grid(9, 9), 2, tool="rcb", objective="cut").source is not None


CELLS = (
    "import evener as ev\nfrom tests.assertions import grid",
    "plan = ev.plan(grid(20, 20), [2, 1], tool='rcb', objective='cut')\nplan",
    "plan.platform",
    "plan.plot()",
    "print(repr(plan))",
    "plan.evaluation",
    "ev.compare(grid(20, 20), [2, 1], ['rcb', 'metis'])",
    "ev.advise(grid(20, 20), [2, 1])",
)


@pytest.mark.slow
def test_in_a_notebook():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    _, plan, platform, figure, text, *others = [cell.outputs for cell in book.cells]
    assert "<img" in plan[0].data["text/html"]
    assert plan[0].data["text/plain"].startswith("Plan(400 vertices, 2 devices")
    assert 'class="evener"' in platform[0].data["text/html"]
    assert figure[0].data["image/png"]
    assert text[0].text.count("\n") == 2
    for outputs, word in zip(others, ("contract", "metis", "devices"), strict=True):
        assert 'class="evener"' in outputs[-1].data["text/html"]
        assert word in outputs[-1].data["text/html"]
