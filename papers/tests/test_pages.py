"""The papers' pages have the tables of the recorded results."""

import pytest

from papers import tables


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.parent.name)
def test_tables_are_those_of_the_results(page):
    assert tables.updated(page) == page.read_text(), "run `python -m papers.tables`"
