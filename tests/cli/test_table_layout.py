"""Tables in terminals of any width: no number is cut, none loses its unit, no line is too long."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.cli.output import Output
from evener.cli.table_layout import MAX_TABLES, MIN_WIDTH, atoms, table_lines, width_of, wrapped
from tests.cli.test_manners import EXAMPLES
from tests.cli.test_terminals import on_a_terminal

WIDTHS = (60, 80, 120, 200)


def numbers_of(text):
    """Numbers with their units."""
    return {atom for atom in atoms(text) if re.search(r"\d", atom)}


def assert_readable(titles, rows, width):
    lines = [line.text for line in table_lines(titles, rows, width)]
    assert max(map(width_of, lines), default=0) <= width
    for row in rows:
        for cell in row:
            text = cell if isinstance(cell, str) else f"{cell:,}"
            whole = {number for number in numbers_of(text) if width_of(number) <= width - 4}
            for number in whole:
                assert any(number in line for line in lines), (number, width, lines)
    words = " ".join(lines)
    assert all(word in words for title in titles for word in title.split())
    assert "…" not in words or any("…" in str(cell) for row in rows for cell in row)
    return lines


LONG = {
    "plan of 24": "plan g.graph --machine topo.toml -o p.plan",
    "plan, versus": "plan g.graph --machine topo.toml -o p.plan --versus metis",
    "plan, by speed": "plan g.graph --machine topo.toml -o p.plan --objective cut --epsilon 90%",
    "evaluate, linked": "evaluate g.graph g.plan --machine three.toml",
    "compare, mapped": "compare g.graph --machine three.toml --with rcb,metis,hilbert",
    "sizes by curves": "sizes --speeds lille.toml --n 20000 --explain",
    "sizes by levels": "sizes --machine topo.toml --n 20000 --hierarchical",
    "tile of 24": "tile --machine topo.toml --size 4096 --block 64",
    "advise, linked": "advise g.graph --machine three.toml",
    "models at a load": "models lille.toml --load 1000",
    "machine tree": "machine show topo.toml",
    "too small": "fits g.graph --machine small.toml",
}
COSTLY = ("compare, mapped", "plan, versus", "advise, linked", "plan, by speed", "measure",
          "advise", "compare", "plan of 24")  # fmt: skip


@pytest.fixture
def many(place, evener):
    evener("machine", "topo1", "--k", 24, "--fast", 4, "--links", "-o", "topo.toml")
    device = '[[device]]\nname = "device{0}"\nspeed = {1}e6\nat = "n{2}"\nmemory_GiB = 1\n'
    level = '[[level]]\nname = "{}"\nalpha_us = {}\nGB_per_s = 10.0\n'
    text = level.format("cluster", 20) + level.format("node", 5)
    text += "".join(device.format(i, i + 1, i // 2) for i in range(3))
    (place / "three.toml").write_text(text)
    (place / "small.toml").write_text(device.format(0, 1, 0).replace("= 1\n", "= 1e-6\n")[:-1])
    evener("generate", "speeds", "--curves", "lille", "-o", "lille.toml")
    return place


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in COSTLY else [])
        for name in [*sorted(EXAMPLES.keys() - {"warm"}), *LONG]
    ],
)
def test_every_table_of_every_command(evener, many, monkeypatch, name):
    tables, said = [], []
    table, say = Output.table, Output.say
    monkeypatch.setattr(Output, "table", lambda out, titles, rows, **cut: (
        tables.append((titles, rows[: cut.get("most")])), table(out, titles, rows, **cut),
    ))  # fmt: skip
    monkeypatch.setattr(Output, "say", lambda out, text, **how: (
        said.append((text, how)), say(out, text, **how)))  # fmt: skip
    done = evener(*(EXAMPLES | LONG)[name].split())
    assert done.code in (0, 4), done.err
    assert tables or said or done.code == 4
    for width in WIDTHS:
        for titles, rows in tables:
            assert_readable(titles, rows, width)
        for text, how in said:
            for line in text.split("\n"):
                if how.get("verbatim"):
                    continue
                parts = wrapped(line, width, how.get("hang", 2))
                assert max(map(width_of, parts)) <= width
                whole = {n for n in numbers_of(line) if width_of(n) < width - 20}
                assert whole <= numbers_of("\n".join(parts))
    # What goes to a pipe is one table, whatever its width.
    for titles, rows in tables:
        lines = [line.text for line in table_lines(titles, rows, None)]
        assert len(lines) == 1 + len(rows)
        assert all(line in done.out for line in lines)


TITLES = ["tool", "family", "cut", "max vol", "total vol", "predicted", "raw block/target", "moved",
          "holds", "CPU s", "enforce s", "bytes x hops, mapped"]  # fmt: skip
ROWS = [
    ["evener", "multilevel", "1,262", "126", "956", "44.6 µs", "0.98 to 1.03", 0, "yes", "0.45",
     "0.00", "1,234 to 1,200"],
    ["metis-recursive", "external", "12,620,999", "12,600", "95,600", "1,234 s", "0.98 to 13.03",
     12_345, "no", "120.45", "10.00", "1.234e+06 to 1.2e+06"],
]  # fmt: skip


@pytest.mark.parametrize("width", [24, 32, 40, *WIDTHS])
def test_a_wide_table_in_every_width(width):
    assert_readable(TITLES, ROWS, width)


def test_few_columns_stay_one_table_and_many_become_several_then_rows_are_stacked():
    firsts = {w: [line.text.split()[0] for line in table_lines(TITLES, ROWS, w) if line.text]
              for w in (200, 80, 40)}  # fmt: skip
    assert firsts[200] == ["tool", "evener", "metis-recursive"]
    assert 2 <= firsts[80].count("evener") <= MAX_TABLES
    stacked = [line for line in table_lines(TITLES, ROWS, 40) if line.is_heading]
    assert [line.text for line in stacked] == ["tool evener", "tool metis-recursive"]


def test_words_are_broken_before_columns_part():
    rows = [["twice the memory of all 4 gpu devices (sizes recomputed)", "350 µs", "−22.1 %"]]
    lines = [line.text for line in table_lines(["change", "predicted", "saves"], rows, 40)]
    assert len(lines) == 4
    assert lines[1].endswith("350 µs  −22.1 %")


def test_long_names_are_broken_never_shortened():
    name = "rack0/" + "n" * 90
    lines = assert_readable(["device", "load"], [[name, "12"]], 60)
    assert name in "".join(lines).replace(" ", "").replace("12", "")


def test_names_that_move_the_cursor_are_escaped():
    lines = [line.text for line in table_lines(["device"], [["a\x1b[2J\u202eb\n"]], 60)]
    assert lines[1] == "a\\x1b[2J\\u202eb\\n"


def test_a_number_stays_beside_its_unit():
    text = "predicted 450 µs per iteration, 1.6 % above 443 µs; 17.5 MiB, +2.75 %, > 12 ms, ~3 s."
    for width in range(MIN_WIDTH, 90):
        lines = wrapped(text, width)
        assert max(map(len, lines)) <= width
        for number in ("450 µs", "1.6 %", "443 µs;", "17.5 MiB,", "+2.75 %,", "> 12 ms,", "~3 s."):
            assert any(number in line for line in lines), (number, width)


def test_what_fits_is_as_it_is():
    text = "  12   vertices,  aligned"
    assert wrapped(text, 60) == [text]
    assert wrapped("name:   one two", 12, 6) == ["name:   one", "      two"]


@given(
    st.lists(st.lists(st.text("ab 12µ%,.日", max_size=30), min_size=3, max_size=3), max_size=4),
    st.integers(MIN_WIDTH, 120),
)
def test_no_line_is_ever_too_long(rows, width):
    lines = [line.text for line in table_lines(["one two", "b", ""], rows, width)]
    assert max(map(width_of, lines), default=0) <= width


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "name"), list(zip(WIDTHS, ["sizes", "plan of 24", "sizes", "sizes"], strict=True))
)
def test_in_a_real_terminal(evener, many, width, name):
    words = (EXAMPLES | LONG)[name].split()
    piped = [line for line in evener(*words).out.splitlines() if not line.startswith("Written")]
    code, shown = on_a_terminal(words, width=width, NO_COLOR="1")
    assert code == 0, shown
    lines = [line for line in re.split(r"\r*\n", shown) if "\x1b" not in line]
    assert max(map(width_of, lines)) <= width
    for number in numbers_of("\n".join(piped)):
        assert any(number in line for line in lines), (number, width)
