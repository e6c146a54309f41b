"""Files of programs' modules: those used last are kept."""

import os

from evener.running.engine.program_files import ENDING, remove_oldest


def test_the_programs_used_longest_ago_are_removed_with_their_machine_code(tmp_path):
    (tmp_path / "__pycache__").mkdir()
    for age in range(5):
        program = tmp_path / f"p{age}{ENDING}"
        program.write_text("")
        os.utime(program, (1e9 - age, 1e9 - age))
        (tmp_path / "__pycache__" / f"p{age}.run-1.py311.0.nbc").write_text("")
    remove_oldest(tmp_path, 2)
    assert sorted(path.name for path in tmp_path.glob("*.*")) == [f"p0{ENDING}", f"p1{ENDING}"]
    left = sorted(path.name[:2] for path in (tmp_path / "__pycache__").iterdir())
    assert left == ["p0", "p1"]


def test_nothing_is_removed_where_there_are_few(tmp_path):
    (tmp_path / f"p{ENDING}").write_text("")
    remove_oldest(tmp_path, 1)
    assert (tmp_path / f"p{ENDING}").exists()
