"""Draws the rooms and the way of a plan through them into CONTRIBUTING.md, as Mermaid.

python docs/images/rooms.py

Rooms and layers are those that import-linter checks (pyproject.toml), the way is the table in
docs/architecture.md.
"""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- begin rooms -->\n", "<!-- end rooms -->"


class Step(NamedTuple):
    """A call on the way of a plan: from which room, to which function, what that hands on."""

    number: int
    caller: str
    called: str
    result: str

    @property
    def room(self):
        """The room of the function that is called."""
        return self.called.split(".")[0]


def walk():
    """Return the steps of the table in docs/architecture.md."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    table = text.partition("<!-- begin walk -->")[2].partition("<!-- end walk -->")[0]
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| `([\w.]+)` \| (.+) \|$", table, re.MULTILINE)
    return [Step(int(number), *rest) for number, *rest in rows]


def layers():
    """Return the rooms of each layer, the highest first, without loose modules."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    root = next(one for one in contracts if one.get("containers") == ["evener"])
    rows = [re.split(r"\s*[|:]\s*", layer) for layer in root["layers"]]
    kept = [[name for name in row if (ROOT / "src" / "evener" / name).is_dir()] for row in rows]
    return [row for row in kept if row]


def picture():
    """Return the Mermaid block: a row for each layer, an arrow for each step."""
    lines = ["flowchart TB"]
    for i, row in enumerate(layers()):
        lines.append(f'  subgraph layer{i}[" "]')
        lines.append("    direction LR")
        lines += [f"    {room}" for room in row]
        lines.append("  end")
    lines += [f"  layer{i} ~~~ layer{i + 1}" for i in range(len(layers()) - 1)]
    for step in walk():
        lines.append(f'  {step.caller} -- "{step.number}: {step.result}" --> {step.room}')
    return "\n".join(["```mermaid", *lines, "```\n"])


def updated():
    """Return CONTRIBUTING.md with the picture as it should be."""
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE.name} lacks {BEGIN.strip()} and {END}")
    return before + BEGIN + picture() + END + after


if __name__ == "__main__":
    PAGE.write_text(updated())
