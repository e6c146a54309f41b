"""Mistakes of typing: what was meant is asked, and no function's name is ever shown."""

import re

import pytest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plam g.graph", "did you mean `evener plan`?"),
        ("partition g.graph", "did you mean `evener plan`?"),
        ("plan g.graph --k 3 --prest fast", "no option --prest; did you mean --preset?"),
        ("plan --prest=fast", "no option --prest; did you mean --preset?"),
        ("machine grid --shpe 3x3", "no option --shpe; did you mean --shape?"),
        ("plan g.graph --k 3 --preset fats", "did you mean fast?"),
        ("plan g.graph --k 3 --with mets", "'mets'; did you mean metis?"),
        ("plan missing --k 3 --with mets", "did you mean metis?"),
        ("compare g.graph --k 3 --with metis,rcbb", "did you mean rcb?"),
        ("plan g.graph --k 3 --kernel smpv", "did you mean spmv?"),
        ("plan g.graph --k 3 --objective secnods", "did you mean seconds?"),
        ("sizes --n 9 --speeds v.toml --method extact", "did you mean exact?"),
        ("tile --k 3 --size 8 --method guilotine", "did you mean guillotine?"),
        ("info g.graph --format metiss", "did you mean metis?"),
        ("export g.plan --to scoth -o x", "did you mean scotch?"),
        ("generate delauny -o x.graph", "did you mean delaunay?"),
        ("machine gird --shape 3x3", "did you mean grid?"),
        ("measure spmw --device cpu0 -o x.toml", "did you mean spmv?"),
    ],
)
def test_what_was_meant_is_asked(evener, place, words, said):
    done = evener(*words.split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) <= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan g.graph --k 3 --epsilon 3", "for 3 % write 3%"),
        ("plan g.graph --k 3 --epsilon x", "'x' is not a share, such as 0.03 or 3%"),
        ("plan g.graph --k 3.5", "'3.5' is not a whole number"),
        ("plan g.graph --k 3 --time-limit x", "'x' is not a number"),
        ("plan g.graph --k 3 --bytes-per-value x", "'x' is not a number"),
        ("sizes --k 3 --n x", "'x' is not a whole number"),
        ("sizes --k 3 --n 9 --epsilon 120%", "does not lie in [0, 1)"),
        ("machine topo1 --speed x", "'x' is not a number, zero or above"),
        ("plan g.graph --k 3 --report x.pdf", "reports are .html"),
        ("compare g.graph --k 3 --report x.pdf", "reports are .html"),
        ("report g.plan -o x.pdf", "reports are .html"),
        ("measure axpy --precision x", "'x' is not a share"),
    ],
)
def test_wrong_values_are_said_in_words(evener, place, words, said):
    done = evener(*words.split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not re.search(r"invalid|\b_\w+|float value|int value", done.err)
    assert not (place / "x.pdf").exists()


@pytest.mark.parametrize("epsilon", ["3%", "3 %", "0.03"])
def test_shares_may_be_percentages(evener, place, epsilon):
    usual = evener("sizes", "--k", 3, "--n", 1000, "--json")
    assert evener("sizes", "--k", 3, "--n", 1000, "--epsilon", epsilon, "--json") == usual


def test_help_of_a_command_either_way(evener):
    for words in (["plan"], ["machine", "grid"]):
        assert evener("help", *words) == evener(*words, "--help")
    assert "did you mean `evener plan`?" in evener("help", "plam").err
