"""The documentation does what it says: every block runs, every link leads somewhere.

Blocks of README.md and docs/ run in the order of their page, all of a page in one folder:

    ```console     lines begun by `$ ` are commands; the lines after one are what it prints, `...`
                   standing for whatever differs. A command ends well unless it says `# exit 4`.
    ```python      all blocks of a page share their names, but on the pages of ALONE. A ```text
                   block right below a python block is what that prints.
    <!-- file: NAME -->    the block below is the content of this file.
    <!-- no test -->       the block below cannot run here.
"""

import ast
import builtins
import contextlib
import doctest
import importlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import evener
from evener.cli import main
from evener.cli.compiling import WORDS
from evener.cli.precompile import precompile
from evener.integrations.exports import EXPORTERS
from evener.io.formats import FORMATS
from evener.io.plans.partitions import PART_FORMATS
from evener.partitioning.tools import TOOLS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ALONE = {"ten-things.md", "python.md"}  # pages of which each block runs as it stands
LINKED = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md",
          *sorted((ROOT / "papers").rglob("*.md"))]  # fmt: skip
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SHELL_MARKS = set("|><;&$`*")


def name_of(path):
    return str(path.relative_to(ROOT))


@dataclass
class Block:
    language: str
    text: str
    line: int
    mark: str = ""
    follows_python: bool = False


def blocks_of(page, *sections):
    """The fenced blocks of a page, or of its sections, each with the comment right above it."""
    found, mark, last, inside, section = [], "", "", None, ""
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if inside is not None:
            if line.rstrip() == "```":
                if not sections or section in sections:
                    found.append(inside)
                last, inside = inside.language, None
            else:
                inside.text += line + "\n"
        elif line.startswith("```"):
            language = line.removeprefix("```").strip()
            inside = Block(language, "", number, mark, last == "python")
            mark = ""
        elif comment := re.fullmatch(r"<!-- (no test|file: \S+) -->", line.strip()):
            mark = comment[1]
        elif line.strip():
            mark = last = ""
            if line.startswith("## "):
                section = line.removeprefix("## ").strip()
    assert not set(sections) - {line[3:] for line in page.read_text().splitlines()}, sections
    assert inside is None, f"{page}: a block is not closed"
    return found


def run_page(page, *sections):
    names, printed = {"__name__": "__main__"}, ""
    for block in blocks_of(page, *sections):
        where = f"{name_of(page)}:{block.line}"
        if block.mark == "no test":
            continue
        if block.mark.startswith("file: "):
            Path(block.mark.removeprefix("file: ")).write_text(block.text)
        elif block.language == "console":
            run_console(block, where)
        elif block.language == "python":
            if page.name in ALONE:
                names = {"__name__": "__main__"}
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, where, "exec"), names)
            printed = out.getvalue()
        elif block.language == "text" and block.follows_python:
            assert_printed(block.text, printed, where)
        else:
            assert block.language == "text", f"{where}: nothing is done with {block.language!r}"


def run_console(block, where):
    for command, expected in commands_of(block.text):
        code, printed = run_command(command)
        wanted = re.search(r"#\s*exit (\d+)\s*$", command)
        at = f"{where}: {command}"
        assert code == int(wanted[1] if wanted else 0), f"{at}: exit code {code}\n{printed}"
        if expected.strip():
            assert_printed(expected, printed, at)


def commands_of(text):
    """(command, what it prints) of a console block; a backslash continues a command."""
    pairs = []
    for line in text.splitlines():
        if pairs and pairs[-1][0].endswith("\\"):
            pairs[-1][0] = pairs[-1][0][:-1] + line.strip()
        elif line.startswith("$ "):
            pairs.append([line[2:], ""])
        else:
            pairs[-1][1] += line + "\n"
    return pairs


def run_command(command):
    """Exit code and output; `evener` runs in this process, which has compiled its kernels."""
    words = shlex.split(command, comments=True)
    if words[0] != "evener" or SHELL_MARKS & set(command):
        tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ | {"PATH": tools})  # fmt: skip
        return done.returncode, done.stdout
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        try:
            code = main(words[1:])
        except SystemExit as left:  # argparse, after --help
            code = left.code or 0
    # The first to use a kernel compiles it, and says so: whether that is this page is chance.
    said = rf"^(?:{WORDS.partition('{')[0]}|Kernels are compiled here, once).*\n"
    return code, re.sub(said, "", out.getvalue(), flags=re.MULTILINE)


def assert_printed(expected, printed, where):
    if not doctest.OutputChecker().check_output(expected, printed, FLAGS):
        pytest.fail(f"{where}\n--- the page says\n{expected}\n--- it prints\n{printed}")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_the_page_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    run_page(page)


def test_a_wrong_output_or_exit_code_is_noticed():
    with pytest.raises(pytest.fail.Exception):
        run_console(Block("console", "$ evener --version\nevener 0.0\n", 1), "here")
    with pytest.raises(AssertionError):
        run_console(Block("console", "$ evener --version # exit 4\n", 1), "here")


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_every_example_runs_and_is_short(example, tmp_path):
    text = example.read_text()
    assert len(text.splitlines()) < 60 or example.name == "demo.py"
    if example.name == "demo.py":
        return  # `make demo` runs it
    done = subprocess.run([sys.executable, "-W", "error", str(example)], cwd=tmp_path, text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    # What an example prints stands at its end, as a comment.
    shown = text.partition("# It prints:\n")[2]
    assert shown, f"{example.name} does not say what it prints"
    expected = "".join(line.removeprefix("#").removeprefix(" ") for line in shown.splitlines(True))
    assert_printed(expected, done.stdout, name_of(example))


def without_code(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors_of(page):
    """The anchors GitHub gives to headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_every_link_leads_somewhere(page):
    for link in re.findall(r"(?:\]\(|^\[[^\]]+\]: +)([^)\s]+)", without_code(page), re.MULTILINE):
        if re.match(r"https?:|mailto:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{name_of(page)}: {link}"
        if anchor:
            assert anchor in anchors_of(target), f"{name_of(page)}: {link}"


def test_every_page_is_listed():
    listed = without_code(ROOT / "docs" / "README.md")
    for page in PAGES[1:]:
        inside = page.relative_to(ROOT / "docs")
        assert page.name.startswith("README") or f"({inside})" in listed, inside


def sections_of(page):
    """Text below every heading, by its title."""
    parts = re.split(r"^#+ +(.*?) *$", page.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_cli_page_has_the_options_of_the_parsers(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")
    cli_page = importlib.import_module("cli_page")
    text = cli_page.PAGE.read_text()
    assert cli_page.updated(text) == text, "run `python docs/site/cli_page.py`"


def json_keys_in(title, sections):
    text = re.search(r"^JSON: (.*?)\.\s", sections[title], re.MULTILINE | re.DOTALL)[1]
    keys = set(re.findall(r"`([^`]+)`", text))
    return keys.union(*(json_keys_in(other, sections) for other in re.findall(r"\[(.*?)\]", text)))


@pytest.mark.slow
def test_cli_page_lists_what_json_holds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(precompile, "REHEARSALS", {})
    sections = sections_of(ROOT / "docs" / "cli.md")
    assert main(["generate", "grid", "--shape", "8x9", "-o", "g.graph", "--quiet"]) == 0
    assert main(["generate", "speeds", "--curves", "lille", "-o", "s.toml", "--quiet"]) == 0
    words = {
        "plan": "g.graph --k 3 --with rcb -o g.plan",
        "evaluate": "g.graph g.plan --k 3",
        "refine": "g.graph g.plan --k 3 -o g.part",
        "compare": "g.graph --k 3 --with rcb",
        "fits": "g.graph --k 3",
        "sizes": "--n 9 --k 3",
        "measure": "axpy --device cpu0 --range 9:9 --time-limit 0.1 -o s.toml",
        "tile": "--size 9 --k 3",
        "models": "s.toml",
        "machine": "flat --speeds 1,2",
        "replay": "g.plan g.graph",
        "export": "g.plan --to csv -o g.csv",
        "distribute": "g.plan g.graph -o g.parts",
        "report": "g.plan",
        "info": "g.graph",
        "convert": "g.graph g.npz",
        "warm": "--processes 1",
    }
    for command, more in words.items():
        capsys.readouterr()
        assert main([command, *more.split(), "--json"]) == 0
        keys = set(json.loads(capsys.readouterr().out))
        assert keys == json_keys_in(f"evener {command}", sections), command


def test_figures_are_those_of_the_result_files(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    summarise = importlib.import_module("summarise")
    for page in summarise.PAGES:
        assert summarise.updated(page) == page.read_text(), "run `python benchmarks/summarise.py`"


def test_every_cited_source_is_listed():
    cited = set()
    for file in (ROOT / "src").rglob("*.py"):
        cited |= set(re.findall(r"\[([A-Za-z]+\d*)\]_", file.read_text()))
    listed = set(re.findall(r"\*\*(\w+)\*\*:", (ROOT / "docs" / "references.md").read_text()))
    assert cited <= listed, cited - listed


def test_every_public_name_is_listed():
    text = (ROOT / "docs" / "python.md").read_text()
    listed = {code for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
              for code in re.findall(r"`([^`]+)`", row)}  # fmt: skip
    assert listed == set(evener.__all__)


def first_column(section):
    """The codes below the head of a table."""
    return re.findall(r"^\| `([^`-][^`]*)` \|", section, re.MULTILINE)


def test_formats_page_lists_every_format():
    sections = sections_of(ROOT / "docs" / "formats.md")
    assert first_column(sections["What is read"]) == [entry.name for entry in FORMATS]
    written = {entry.name for entry in FORMATS if entry.writes}
    assert set(first_column(sections["What is written"])) == written
    assert set(first_column(sections["From a plan to your solver"])) == {*PART_FORMATS, *EXPORTERS}


def test_tools_are_listed():
    section = sections_of(ROOT / "docs" / "contract.md")["What each tool can do"]
    listed = {code for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
              for code in re.findall(r"`([^`]+)`", row)}  # fmt: skip
    assert listed == set(TOOLS)


def names_missing(text):
    """Names that a block takes from another one."""
    tree = ast.parse(text)
    known = set(vars(builtins)) | {"__file__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            known.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            known.add(node.name or "")
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - known


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_python_block_can_be_copied_alone(page):
    for block in blocks_of(page):
        if block.language == "python" and block.mark != "no test":
            assert not names_missing(block.text), f"{name_of(page)}:{block.line}"
