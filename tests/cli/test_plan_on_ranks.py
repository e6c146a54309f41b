"""What ranks are told before they read anything together."""

from pathlib import Path

import pytest

from evener.cli.commands.plan import ALONE, RankWords
from evener.cli.graph_options import ReadOptions
from evener.errors import UsageError
from evener.planning.options import PlanOptions


@pytest.mark.parametrize("name", ALONE)
def test_what_one_process_alone_does_and_what_to_do_instead(name):
    alone = dict.fromkeys(ALONE) | {name: "x"}
    words = RankWords("a.ecsr", Path("a.plan"), ReadOptions(), PlanOptions(), alone)
    with pytest.raises(UsageError, match=f"{name} does not work on the ranks") as raised:
        words.check()
    assert raised.value.hint == ALONE[name]


def test_every_option_for_one_process_has_a_hint():
    from evener.cli.commands.plan import add_arguments, alone_options_from
    from evener.cli.parsing import Parser

    parser = Parser()
    add_arguments(parser)
    assert alone_options_from(parser.parse_args(["a.ecsr"])).keys() == ALONE.keys()
