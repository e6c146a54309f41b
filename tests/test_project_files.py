"""Files about the project say what the project is: citation, hooks before a commit, issue forms."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def loaded(path):
    return pytest.importorskip("yaml").safe_load((ROOT / path).read_text())


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == project["version"]
    assert re.search(r"^license: (.*)$", text, re.MULTILINE)[1] == project["license"]
    assert re.findall(r"^  - name: \"(.*)\"$", text, re.MULTILINE) == [
        author["name"] for author in project["authors"]
    ]


def test_hooks_are_the_checks_of_make():
    makefile = (ROOT / "Makefile").read_text()
    checks = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    made = {" ".join(line.split()[:2 if "ruff" in line else 1]).replace("$(BIN)/", "")
            for line in checks.splitlines()}  # fmt: skip
    (local,) = loaded(".pre-commit-config.yaml")["repos"]
    hooks = {
        hook["entry"].partition(" --")[0].removeprefix(".venv/bin/") for hook in local["hooks"]
    }
    assert hooks == made


@pytest.mark.parametrize("name", ["wrong-result", "slow-or-poor", "wish"])
def test_issue_forms(name):
    form = loaded(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert form["name"]
    assert form["description"]
    ids = [one["id"] for one in form["body"]]
    assert len(ids) == len(set(ids))
    for one in form["body"]:
        assert one["type"] in ("textarea", "input")
        assert one["attributes"]["label"]
    assert any(one.get("validations", {}).get("required") for one in form["body"])
