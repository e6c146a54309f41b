"""Rows of cells that are done are kept, and an interrupted run goes on from them."""

import json

import pytest

from evener.errors import InputError
from papers.keeping import NAME, KeptRows


def kept_in(folder, **settings):
    return KeptRows(folder, {"effort": 1, **settings})


def test_cells_that_are_done_are_not_run_again(tmp_path):
    folder, runs = tmp_path / "new", []

    def run():
        runs.append(1)
        return [{"cut": 3.0}]

    assert kept_in(folder).rows("a", run) == [{"cut": 3.0}]
    again = kept_in(folder)
    assert (again.rows("a", run), again.n_found, len(runs)) == ([{"cut": 3.0}], 1, 1)
    with (folder / NAME).open("ab") as file:
        file.write(b'{"cell": "b", "rows": [{"cu')  # interrupted
    assert kept_in(folder).rows("b", run) == [{"cut": 3.0}]
    assert len(runs) == 2
    assert [json.loads(line).get("cell") for line in (folder / NAME).read_text().splitlines()] == [
        None, "a", "b",
    ]  # fmt: skip


def test_without_a_folder_nothing_is_kept():
    kept = kept_in(None)
    assert kept.rows("a", lambda: [{"cut": 1.0}]) == kept.rows("a", list)


def test_a_first_line_that_was_cut_off_begins_anew(tmp_path):
    (tmp_path / NAME).write_bytes(b'{"setti')
    assert kept_in(tmp_path).n_found == 0
    assert kept_in(tmp_path).n_found == 0


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        ('{"settings": {"effort": 2}}\n', "other settings", 1),
        ("7\n", "no journal", 1),
        ("\0\n", "no journal", 1),
        ('{"settings": {"effort": 1}}\n{"cell": 1, "rows": []}\n', "no cell", 2),
        ('{"settings": {"effort": 1}}\nnot json\n', "no journal", 2),
    ],
)
def test_other_files_are_refused(tmp_path, content, message, line):
    (tmp_path / NAME).write_text(content)
    with pytest.raises(InputError, match=message) as found:
        kept_in(tmp_path)
    assert f"{NAME}:{line}: " in str(found.value)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    with pytest.raises(InputError, match="cannot be made"):
        kept_in(tmp_path / "no" / "such")
