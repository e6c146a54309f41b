"""Presets: the table of docs/partitioner.md has the numbers of the code."""

from pathlib import Path

from evener.partitioning.multilevel.presets import MOST_SMALL, PRESETS, preset_for

PAGE = Path(__file__).parents[3] / "docs" / "partitioner.md"
SEARCHES = {
    "rounds, on coarse graphs and on the whole": lambda fm: (fm.rounds, fm.finest_rounds),
    "moves without gain before a search may end": lambda fm: fm.patience,
    "share of the vertex's edge weight that a first move may lose": lambda fm: fm.boldness,
    "edge weight per border vertex: a round that gains less is the last": lambda fm: fm.least_gain,
}
ROWS = {
    **{
        f"searches: {what}": lambda preset, of=of: of(preset.fm_with_cuts)
        for what, of in SEARCHES.items()
    },
    **{
        f"searches alone: {what}": lambda preset, of=of: of(preset.fm_without_cuts)
        for what, of in SEARCHES.items()
    },
    "rounds in which pairs are cut anew, on coarse graphs and on the whole": lambda preset: (
        preset.cutting.rounds,
        preset.cutting.finest_rounds,
    ),
    "weight of one side of a corridor / what a block may lose or gain": lambda preset: (
        preset.cutting.reach
    ),
    "share of its target by which a search may leave a block's limits": lambda preset: preset.slack,
    "rounds of rounding": lambda preset: preset.rounding.rounds,
    "rounds of rounding on finer graphs": lambda preset: preset.finer_rounding.rounds,
    "share of its target that k-means of a large graph may leave a block off": lambda preset: (
        preset.balance
    ),
    "vertices for each block of the smallest graph, where blocks are given": lambda preset: (
        preset.per_block
    ),
    "vertices that become one, on average": lambda preset: preset.shrink_by,
    "initial partitions that are refined on finer graphs": lambda preset: preset.rivals,
    "times the graph is shrunk and refined": lambda preset: preset.cycles,
}


SMALL_ROWS = {
    "rounding on the smallest graph: rounds, steps that loads spread": lambda preset: (
        preset.first_rounding.rounds,
        preset.first_rounding.steps,
    ),
    "rounding on finer graphs: rounds, steps": lambda preset: (
        preset.finer_rounding.rounds,
        preset.finer_rounding.steps,
    ),
    "share of the vertices: a round that changes fewer is the last": lambda preset: (
        preset.finer_rounding.settled
    ),
    "up to so many blocks, small loads are kept: it takes less time than to drop them": (
        lambda preset: preset.finer_rounding.dense
    ),
    "blocks of all bisections that are tried, and bisections refined": lambda preset: (
        preset.bisected_blocks,
        preset.deals_refined,
    ),
    "rounded once more in the end: up to so many vertices, rounds, steps": lambda preset: (
        (preset.most_anew, preset.anew.rounds, preset.anew.steps) if preset.anew else ()
    ),
}


def cell(value):
    values = value if isinstance(value, tuple) else (value,)
    return ", ".join(f"{one:g}" for one in values)


def tables():
    """The lines of each table of the page's section."""
    section = PAGE.read_text(encoding="utf-8").split("## Presets")[1].split("## Objectives")[0]
    found = [part.strip().splitlines() for part in section.split("\n\n")]
    return [lines for lines in found if lines and lines[0].startswith("|")]


def test_the_page_has_every_number_of_every_preset():
    found = tables()[0]
    assert found[0] == f"| | {' | '.join(f'`{name}`' for name in PRESETS)} |"
    assert found[2:] == [
        f"| {what} | {' | '.join(cell(of(preset)) for preset in PRESETS.values())} |"
        for what, of in ROWS.items()
    ]


def test_the_page_has_the_numbers_of_small_graphs():
    small = [preset_for(name, MOST_SMALL) for name in PRESETS]
    assert tables()[1][2:] == [
        f"| {what} | {' | '.join(cell(of(preset)) for preset in small)} |".replace("|  |", "| |")
        for what, of in SMALL_ROWS.items()
    ]


def test_larger_graphs_have_the_presets_as_they_are():
    assert all(preset_for(name, MOST_SMALL + 1) is preset for name, preset in PRESETS.items())
