"""Archives of plans: written and read back, their format known, anything else refused by name."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.io.plans.archived import format_in, read_archived, write_archived


def test_arrays_and_manifest_are_read_back(tmp_path):
    write_archived(tmp_path / "x", {"part": np.arange(3)}, {"format": "some", "n": 3})
    found = read_archived(tmp_path / "x", ("part",), lambda *both: both, "a thing")
    assert (found[0]["part"].tolist(), found[1]["n"]) == ([0, 1, 2], 3)
    assert format_in(tmp_path / "x") == "some"


def test_what_is_none_is_refused_with_its_file(tmp_path):
    (tmp_path / "text").write_text("no archive")
    write_archived(tmp_path / "x", {}, {})
    for name in ("text", "none"):
        assert format_in(tmp_path / name) == ""
        with pytest.raises(InputError, match=name):
            read_archived(tmp_path / name, (), lambda *_: None, "a thing")
    assert format_in(tmp_path / "x") == ""
    with pytest.raises(
        InputError, match=r"is not a thing file, or is damaged \(KeyError: 'part'"
    ) as seen:
        read_archived(tmp_path / "x", ("part",), lambda arrays, _: arrays["part"], "a thing")
    assert seen.value.file == str(tmp_path / "x")
