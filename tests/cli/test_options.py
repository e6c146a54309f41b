import argparse
from dataclasses import dataclass, field

from evener.cli.options import add_options, option, options_from


@dataclass(frozen=True)
class Inner:
    seed: int = option("a seed", type=int, default=7)


@dataclass(frozen=True)
class Outer:
    file: str = option("a file", "file", metavar="FILE")
    is_fast: bool = option("faster", default=False)
    kind: str = option("what", "-k", "--sort", choices=("a", "b"), default="a", group="more")
    made: str = "unmade"
    inner: Inner = field(default_factory=Inner)


def parser_of(*kinds, **how):
    parser = argparse.ArgumentParser()
    for kind in kinds:
        add_options(parser, kind, **how)
    return parser


def test_fields_are_arguments_and_arguments_are_fields():
    parser = parser_of(Outer, Inner)
    asked = options_from(parser.parse_args(["x", "-k", "b", "--is-fast", "--seed", "3"]), Outer)
    assert asked == Outer("x", is_fast=True, kind="b", inner=Inner(3))
    assert options_from(parser.parse_args(["x"]), Outer, made="here") == Outer("x", made="here")


def test_fields_without_an_argument_keep_their_defaults():
    args = parser_of(Outer, only=["file"]).parse_args(["x"])
    assert vars(args) == {"file": "x"}
    assert options_from(args, Outer) == Outer("x")


def test_help_has_the_text_the_default_flag_and_the_group():
    shown = parser_of(Outer).format_help()
    for text in ("FILE", "a file", "--is-fast", "-k {a,b}, --sort {a,b}", "\nmore:\n"):
        assert text in shown
