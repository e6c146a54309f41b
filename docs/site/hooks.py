"""What the site has that is no page of docs/: see mkdocs.yml.

- The navigation is docs/README.md's table: its bold rows are tabs, its links their pages.
- Pages of the public names, by the room that they live in, from their docstrings.
- README, CHANGELOG and CONTRIBUTING of the project, and each example, as pages: pages link to them.
"""

import re
from pathlib import Path

from mkdocs.structure.files import File

import evener

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "README.md"
PROJECT = {"overview.md": "README.md", "changelog.md": "CHANGELOG.md",
           "contributing.md": "CONTRIBUTING.md"}  # fmt: skip
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# Title and sentence of the page of each room's names; rooms of a page in the order of its names.
NAMES = {
    "planning": ("Plans", "Making plans, comparing tools, advice.", ("planning",)),
    "plans": ("What plans hold", "Partitions, contracts, certificates, predictions.", ("plans",)),
    "graphs": ("Graphs and meshes", "What is divided.", ("graphs",)),
    "platforms": ("Machines", "Devices, links, speed models.", ("platforms",)),
    "io": ("Files", "Reading and writing; what is accepted as a graph or machine.", ("io",)),
    "sizing": ("Sizes and tilings", "How much each device gets.", ("sizing",)),
    "partitioning": ("Partitioners", "Blocks, their repair and refinement.",
                     ("partitioning", "sliced", "splitting")),
    "running": ("Running", "Graphs distributed by a plan, programs, halos.",
                ("running", "streams")),
    "measuring": ("Measuring and rebalancing", "Speeds; data moved while a program runs.",
                  ("measuring", "tuning", "rebalancing")),
    "reporting": ("Reports and errors", "HTML pages; what is raised.", ("reporting", "errors")),
    "integrations": ("Integrations", "Plans for other programs.", ("integrations",)),
}  # fmt: skip
ROW = re.compile(
    r"^\| (?:\*\*(?P<tab>.+?)\*\*|\[(?P<title>.+?)\]\((?P<page>[^)#]+)\)) \|", re.MULTILINE
)
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
SOURCE = re.compile(r"\[([A-Z][A-Za-z]+\d*)\]_")


def on_config(config):
    """Set the navigation from the table of pages, with the names under `Look up`."""
    tabs = {}
    for row in ROW.finditer(TABLE.read_text()):
        if row["tab"]:
            pages = tabs[row["tab"]] = []
        else:
            pages.append({row["title"]: row["page"]})
    tabs["Learn"].insert(0, {"Overview": "overview.md"})
    tabs["Learn"].append({"Examples": [{one.stem.replace("_", " "): f"examples/{one.stem}.md"}
                                       for one in EXAMPLES]})  # fmt: skip
    tabs["Look up"].append({"Names and their types": [
        {title: f"names/{page}.md"} for page, (title, _, _) in NAMES.items() if names_of(page)
    ]})  # fmt: skip
    tabs["Look up"] += [{"Changelog": "changelog.md"}]
    tabs["Understand"] += [{"Contributing": "contributing.md"}]
    config.nav = [{"Home": "README.md"}, *({tab: pages} for tab, pages in tabs.items())]
    return config


def on_files(files, config):
    """Add the pages that are not files of docs/."""
    for page, file in PROJECT.items():
        text = without_diagrams((ROOT / file).read_text())
        files.append(File.generated(config, page, content=text))
    for one in EXAMPLES:
        text = f"# {one.stem.replace('_', ' ')}\n\n`examples/{one.name}`\n\n```python\n"
        content = f"{text}{one.read_text()}```\n"
        files.append(File.generated(config, f"examples/{one.stem}.md", content=content))
    for page, (title, sentence, _) in NAMES.items():
        if names_of(page):
            parts = [f"# {title}", f"{sentence} All are names of `evener`."]
            content = "\n\n".join([*parts, *(f"::: {home_of(name)}" for name in names_of(page))])
            files.append(File.generated(config, f"names/{page}.md", content=content))
    return files


def on_page_markdown(markdown, page, **_):
    """Turn links out of docs/ into links to the pages added, or into plain text."""
    here = page.file.src_uri
    if here == "README.md":
        page.meta["hide"] = ["navigation"]  # the page lists all
    return LINK.sub(lambda found: linked(found, here), markdown)


def on_page_content(html, page, **_):
    """Link the sources that docstrings cite; let wide tables and pictures have their room."""
    if page.file.src_uri.startswith("names/"):
        html = SOURCE.sub(r'[<a href="../references.html">\1</a>]', html)
    return html.replace("<img ", '<img loading="lazy" ')


def linked(found, here):
    """Return a link of a page as the site has it."""
    text, target, anchor = found[1], found[2], found[3] or ""
    if re.match(r"[a-z]+:", target):
        return found[0]
    base = ROOT if here in PROJECT else (ROOT / "docs" / here).parent
    path = (base / target).resolve()
    inside = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    up = "../" * here.count("/")
    for page, file in PROJECT.items():
        if inside == file:
            return f"[{text}]({up}{page}{anchor})"
    if path in EXAMPLES:
        return f"[{text}]({up}{inside.removesuffix('.py')}.md{anchor})"
    if here in PROJECT and inside.startswith("docs/"):
        return f"[{text}]({inside.removeprefix('docs/')}{anchor})"
    if inside.startswith("docs/") and path.suffix != ".py":
        return found[0]
    return text  # a folder or a program of the repository, which the site does not have


def names_of(page):
    """Return the public names on a page, in the order of evener.__all__."""
    rooms = NAMES[page][2]
    return [name for name in evener.__all__ if evener._HOME[name].split(".")[1] in rooms]


def home_of(name):
    """Return the dotted path of a public name where it is defined."""
    value = getattr(evener, name)
    module = getattr(value, "__module__", "")
    if not module.startswith("evener.") or not hasattr(value, "__qualname__"):
        module = evener._HOME[name]
    return f"{module}.{name}"


def without_diagrams(text):
    """Return a page without its Mermaid diagrams, whose program would be loaded from elsewhere."""
    return re.sub(r"```mermaid\n.*?```\n", "", text, flags=re.DOTALL)
