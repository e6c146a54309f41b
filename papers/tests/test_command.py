"""What the command of a paper prints of a finding."""

from evener.cli.output import Output
from papers.command import show
from papers.findings import Criterion, Finding

FOUND = Finding(
    "figure 9",
    "a run of many words that do not fit into one line of a terminal, however wide it may be",
    "it works",
    "the same",
    "it does not",
    [Criterion("it works", False)],
)


def test_a_finding_is_its_verdict_and_its_words_below(capsys, monkeypatch):
    for columns, width in ((200, 78), (60, 60), (10, 40)):
        monkeypatch.setenv("COLUMNS", str(columns))
        show(FOUND, Output())
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "figure 9: not held"
        assert lines[1].startswith("  it did   a run of many")
        assert max(map(len, lines)) <= width
        assert lines[-4:] == [
            "  it says  it works", "  we did   the same", "  we see   it does not",
            "  asked    it works: no",
        ]  # fmt: skip
        assert "lacking" not in "".join(lines)
