"""What a launch is made of: names of files, a command as a script."""

import subprocess

from evener.integrations.launching.jobs import RankJob, commented, with_script
from tests.integrations.launching.jobs import places


def test_files_are_named_as_the_command_reaches_them():
    for folder, path in ((".", "hosts"), ("a/b", "a/b/hosts"), ("/t", "/t/hosts")):
        assert RankJob(places(("a", [])), ("x",), folder).path("hosts") == path


def test_the_script_runs_the_command_word_by_word(tmp_path):
    made = with_script({"hosts": "a\n"}, ["printf", "%s|", "a b", "$HOME", "it's"])
    assert made.to_wait == made.command
    (tmp_path / "launch.sh").write_text(made.files["launch.sh"])
    said = subprocess.run(["sh", tmp_path / "launch.sh"], capture_output=True, check=True)
    assert said.stdout == b"a b|$HOME|it's|"


def test_comments_are_a_line_each():
    assert commented(places(("a", []), ("b", []))) == "# rank 0: d0\n# rank 1: d1\n"
