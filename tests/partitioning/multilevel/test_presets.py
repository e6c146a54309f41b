"""Presets: the table of docs/partitioner.md has the numbers of the code."""

from pathlib import Path

from evener.partitioning.multilevel.presets import PRESETS

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


def cell(value):
    values = value if isinstance(value, tuple) else (value,)
    return ", ".join(f"{one:g}" for one in values)


def test_the_page_has_every_number_of_every_preset():
    rows = PAGE.read_text(encoding="utf-8").split("## Presets")[1].split("## Objectives")[0]
    found = [line for line in rows.splitlines() if line.startswith("|")]
    assert found[0] == f"| | {' | '.join(f'`{name}`' for name in PRESETS)} |"
    assert found[2:] == [
        f"| {what} | {' | '.join(cell(of(preset)) for preset in PRESETS.values())} |"
        for what, of in ROWS.items()
    ]
