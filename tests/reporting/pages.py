"""Reads pages as a browser would, as far as tests need: elements, texts, tables."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}
# SVG's own shapes may close themselves.
SHAPES = {"path", "rect", "circle", "image", "line"}


class Element:
    """A tag with its attributes, texts and children."""

    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children = tag, dict(attributes), []

    @property
    def text(self):
        """All text within, spaces that do not break as others."""
        text = "".join(c if isinstance(c, str) else c.text for c in self.children)
        return text.replace("\N{NO-BREAK SPACE}", " ")

    def all(self, tag=None, **wanted):
        """Every element within, in order, of this tag and with these attributes."""
        for child in self.children:
            if isinstance(child, str):
                continue
            matches = all(child.attributes.get(k.rstrip("_")) == v for k, v in wanted.items())
            if tag in (None, child.tag) and matches:
                yield child
            yield from child.all(tag, **wanted)


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = Element("", ())
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice"
        element = Element(tag, attrs)
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        assert tag in SHAPES | VOID, f"<{tag}/> does not close itself"
        self.open[-1].children.append(Element(tag, attrs))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


def parse(page):
    """The page as a tree; fails where tags do not match."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].tag}> is not closed"
    return reader.root


def table_of(root, identity):
    """Headings, and rows of (text, data-v) of the table with this id."""
    (table,) = root.all("table", id=identity)
    rows = list(table.all("tr"))
    headings = [cell.text for cell in rows[0].all("th")]
    cells = [[c for c in row.children if not isinstance(c, str)] for row in rows[1:]]
    return headings, [[(c.text, c.attributes.get("data-v")) for c in row] for row in cells]
