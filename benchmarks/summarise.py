"""Writes the tables of docs/results from the result files beside this script.

    python benchmarks/summarise.py

A table stands between the comments `begin NAME` and `end NAME`.
"""

import importlib.util
import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "results" / "README.md"
FILES_PAGE = PAGE.parent / "real_inputs.md"
PREDICTION_PAGE = PAGE.parent.parent / "prediction.md"
REBALANCING_PAGE = HERE.parent / "docs" / "rebalancing.md"

ADVISING_PAGE = HERE.parent / "docs" / "advising.md"


def main():
    PAGE.write_text(updated(PAGE.read_text()))
    REBALANCING_PAGE.write_text(updated(REBALANCING_PAGE.read_text(), REBALANCING_TABLES))
    FILES_PAGE.write_text(updated(FILES_PAGE.read_text(), FILE_TABLES))
    PREDICTION_PAGE.write_text(updated(PREDICTION_PAGE.read_text(), PREDICTION_TABLES))

    ADVISING_PAGE.write_text(updated(ADVISING_PAGE.read_text(), ADVISING_TABLES))


def updated(page, tables=None):
    """The page with every table made anew."""
    for name, make in (TABLES if tables is None else tables).items():
        lines = (HERE / "results" / f"{name}.jsonl").read_text().splitlines()
        table = make([json.loads(line) for line in lines])
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        pattern = f"(?<={begin}\n).*(?={end})"
        page, found = re.subn(pattern, lambda _, t=table: t + "\n", page, flags=re.DOTALL)
        assert found == 1, f"{begin} is to stand there once"
    return page


def partitioners(lines):
    """As `partitioners.py --table` prints it."""
    return script("partitioners").table(lines)


def real_inputs(lines):
    """As `real_inputs.py --table` prints it."""
    return script("real_inputs").table(lines)


def real_files(lines):
    """A row a file."""
    return script("real_inputs").by_file(lines)


def simulated(lines):
    """As `simulated.py --table` prints it."""
    return script("simulated").table(lines)


def constraints(lines):
    """As `constraints.py --table` prints it."""
    return script("constraints").table(lines)


def rebalancing(lines):
    """As `rebalancing.py` prints it."""
    return script("rebalancing").table(lines)


def rebalancing_live(lines):
    """As `rebalancing_live.py` prints it."""
    return script("rebalancing_live").table(lines)


def seconds(lines):
    """As `seconds.py --table` prints it."""
    return script("seconds").table(lines)


def advise(lines):
    """As `advise.py --table` prints it."""
    return script("advise").table(lines)


def script(name):
    """One of the scripts beside this one, as a module."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def powerlaw(lines):
    """As `powerlaw.py --table` prints it."""
    return script("powerlaw").table(lines)


def patience(lines):
    """A row an instance, a column a tool: our cut to the best of its runs."""
    tools = list(dict.fromkeys(line["tool"] for line in lines if line["tool"] != "evener:strong"))
    cases = defaultdict(dict)
    for line in lines:
        cases[line["family"], line["topology"]][line["tool"]] = line
    rows = [("instance", "machine", "our CPU s", *tools)]
    for (family, topology), own in cases.items():
        ours = own["evener:strong"]["cpu_s"]
        cells = (
            f"{own[t]['ratio']:.3f} ({own[t]['runs']} runs)" if t in own else "" for t in tools
        )
        rows.append((family, topology, f"{ours:.1f}", *cells))
    return markdown(rows)


def enforcing(lines):
    """Medians over machines and seeds."""
    groups = defaultdict(list)
    for line in lines:
        groups[line["graph"], line["from"]].append(line)
    rows = [
        ("graph", "from", "CPU / METIS's", "cut after / before", "moved", "had to move", "runs")
    ]
    for (graph, origin), own in groups.items():
        cpu, cut, moved, least = (
            median(line[key] for line in own)
            for key in ("cpu_ratio", "cut_ratio", "moved", "least")
        )
        row = graph, origin, f"{cpu:.3f}", f"{cut:.3f}", f"{moved:.1%}", f"{least:.1%}", len(own)
        rows.append(row)
    return markdown(rows)


def geometric(lines):
    """A row a partitioner, a column a kind of points and weights."""
    cells = {}
    off = defaultdict(float)
    for line in lines:
        if "weights" in line:
            cells[line["what"], line["d"], line["weights"]] = f"{line['cpu_s']:.2f}"
            off[line["what"]] = max(off[line["what"]], line["off_by_heaviest"])
    columns = [(2, "unit"), (2, "whole"), (3, "unit"), (3, "whole")]
    rows = [
        ("partitioner", *(f"{d}-D, {kind} weights" for d, kind in columns), "worst block off by")
    ]
    rows += [
        (name, *(cells[name, *column] for column in columns), f"{worst:.2f}")
        for name, worst in off.items()
    ]
    return markdown(rows)


def generating(lines):
    rows = [("family", "vertices or cells", "edges", "CPU s")]
    for line in lines:
        name = line["family"] + (f", {line['dim']}-D" if "dim" in line else "")
        size, edges = line.get("vertices", line.get("cells")), line.get("edges")
        rows.append((name, f"{size:,}", f"{edges:,}" if edges else "", f"{line['cpu_s']:.2f}"))
    return markdown(rows)


def reading(lines):
    rows = [("reader or writer", "edges", "CPU s", "beside", "CPU ratio")]
    for line in lines:
        what = line.get("reader") or f"{line['writer']}, written"
        ratio = f"{line['cpu_ratio']:.2f}" if "cpu_ratio" in line else ""
        beside = line.get("beside", "")
        rows.append((what, f"{line['m']:,}", f"{line['cpu_s']:.2f}", beside, ratio))
    return markdown(rows)


def scale(lines):
    rows = [("what", "size", "CPU s")]
    for line in lines:
        sizes = [(key, f"{value:,}") for key, value in line.items() if key not in ("what", "cpu_s")]
        size = ", ".join(
            f"{key[:-3]} {value} MB" if key.endswith("_MB") else f"{value} {key}"
            for key, value in sizes
            if key != "k"
        )
        rows.append((line["what"], size, f"{line['cpu_s']:.2f}"))
    return markdown(rows)


def tiling(lines):
    """Mean and worst ratio by number of devices, over all kinds of speeds."""
    rows = [("devices", "columns, mean", "95 %", "worst", "cuts, mean", "worst", "grid, mean",
             "whole blocks", "largest area to asked", "CPU ms")]  # fmt: skip
    for p in dict.fromkeys(line["p"] for line in lines if "runs" in line):
        own = [line for line in lines if line["p"] == p and "runs" in line]

        def cell(key, place, together, own=own):
            values = [line[key][place] for line in own if key in line]
            return f"{together(values):.4f}" if values else ""

        def mean(values):
            return sum(values) / len(values)

        row = [cell("columns", 0, mean), cell("columns", 2, max), cell("columns", 3, max)]
        row += [cell("cuts", 0, mean), cell("cuts", 3, max), cell("grid", 0, mean)]
        row += [cell("whole", 0, mean), f"{mean([line['imbalance'][0] for line in own]):+.2%}"]
        rows.append((f"{p:,}", *row, f"{mean([line['cpu_ms'] for line in own]):.1f}"))
    return markdown(rows)


def adaptive(lines):
    """A row a set and way of choosing loads: what sizes made from the samples lose."""
    rows = [("devices", "loads", "most points", "loss mean", "median", "worst", "error of times")]
    rows += [
        (
            f"{line['set']} ({line['devices']})",
            line["way"],
            line["points"],
            *(f"{line['loss'][key]:.2%}" for key in ("mean", "median", "worst")),
            f"{line['time_error']:.2%}",
        )
        for line in lines
    ]
    return markdown(rows)


def sizing(lines):
    """What each method loses by family of machines; then the CPU seconds of single calls."""
    rows = [("machines", "number", "exact is the best", "GPA under its rule", "NPA fell back",
             *(f"{method} {what}" for method in ("CPM", "GPA", "NPA")
               for what in ("mean", "99 %", "worst")))]  # fmt: skip
    cases = [("call", "CPU s")]
    for line in lines:
        if "case" in line:
            cases.append((line["case"], f"{line['cpu_s']:.3f}"))
            continue
        solved = line["machines"] - line["infeasible"]
        assert line["feasible_answers"] == 4 * solved
        loss = [line["loss"][method] for method in ("constant", "gpa", "npa")]
        rows.append(
            (
                line["family"],
                f"{line['machines']:,}",
                f"{line['exact_is_best']:,} of {solved:,}",
                f"{line['gpa_is_best']:,} of {solved:,}",
                f"{line['npa_fell_back']:,}",
                *(f"{own[key]:.3f}" for own in loss for key in ("mean", "p99", "worst")),
            )
        )
    return markdown(rows) + "\n\n" + markdown(cases)


def fupermod(lines):
    """What the thesis says beside what `evener reproduce fupermod` finds."""
    rows = [("in the thesis", "it says", "we see", "reproduced")]
    found = [line for line in lines if line["table"] == "findings"]
    rows += [
        (line["where"], line["paper"], line["ours"], "yes" if line["holds"] else "no")
        for line in found
    ]
    return markdown(rows)


def here(lines):
    """Errors of predicted iterations, median with its interval and nine tenths, by size."""
    kinds = {"predicted": "predicted just before", "means": "by means only",
             "model": "by models of the beginning", "null": "null pair"}  # fmt: skip
    rows = [("program", "units", "trials", "iteration", "devices had of their cores",
             *(f"{name}: median (95 %), p90" for name in kinds.values()))]  # fmt: skip
    for line in lines:
        if line["table"] == "errors":
            shares = f"{line['first_share']:.0%}, {line['second_share']:.0%}"
            own = f"{1e3 * line['measured_s']:.0f} ms", shares
            errors = (error_cell(line, kind) for kind in kinds)
            rows.append((line["program"], line["units"], line["trials"], *own, *errors))
    return markdown(rows)


def error_cell(line, kind):
    middle, low, high, most = (line[f"{kind}_{key}"] for key in ("median", "low", "high", "p90"))
    return f"{middle:.1%} ({low:.1%} to {high:.1%}), {most:.1%}"


def truth(lines):
    """Errors of predicted iterations on two real cores, beside what was asked."""
    rows = [("second core", "iterations", "runs", "error: median (95 %), p90", "asked",
             "by means only", "null pair", "machine's load before")]  # fmt: skip
    for line in lines:
        seconds = [1e3 * run["measured"] for run in line["runs"]]
        rows.append(
            (
                line["case"],
                f"{min(seconds):.0f} to {max(seconds):.0f} ms",
                len(seconds),
                spread_cell(line["errors"]),
                "8%, 18%" if line["judged"] else "reported only",
                *(spread_cell(line[key]) for key in ("by_means", "null")),
                line["load_before"],
            )
        )
    return markdown(rows)


def spread_cell(own):
    return f"{own['median']:.1%} ({own['low']:.1%} to {own['high']:.1%}), {own['p90']:.1%}"


def measured(lines):
    """Seconds of plans to those of equal blocks and METIS with speeds, by the clock."""
    rows = [("part", "case", "runs", "plan / equal (95 %)", "asked", "plan / METIS (95 %)",
             "asked", "predicted", "null pair (95 %)", "devices used", "late waits")]  # fmt: skip
    for line in lines:
        equal, metis = line["ratios"]["equal"], line["ratios"]["metis"]
        asked = {
            rival: {"null": "null pair"}.get(most, most) for rival, most in line["asked"].items()
        }
        rows.append(
            (
                line["part"],
                line["case"],
                len(line["measured"]["planned"]),
                ratio_cell(equal),
                asked.get("equal", ""),
                ratio_cell(metis),
                asked.get("metis", ""),
                f"{metis['predicted']:.3f}",
                ratio_cell(line["null"]),
                line["partitions"]["planned"]["devices"],
                f"{max(line['late'].values()):.1%}" if "late" in line else "",
            )
        )
    return markdown(rows)


def ratio_cell(own):
    return f"{own['ratio']:.3f} ({own['low']:.3f} to {own['high']:.3f})"


def mapping(lines):
    """Ratios to METIS as it comes: geometric means over families of the medians over seeds."""
    cells = defaultdict(list)
    for line in lines:
        cells[line["machine"], line["family"], line["tool"]].append(line)
    families = list(dict.fromkeys(line["family"] for line in lines))
    machines = list(dict.fromkeys(line["machine"] for line in lines))
    tools = list(dict.fromkeys(line["tool"] for line in lines))

    def ratio(machine, tool, *keys):
        product = 1.0
        for family in families:
            base = median(line[keys[0]] for line in cells[machine, family, "metis"])
            own = cells[machine, family, tool]
            product *= median(sum(line[key] for key in keys[1:]) for line in own) / base
        return f"{product ** (1 / len(families)):.2f}"

    rows = [("machine", "blocks", "cut", "predicted time", "bytes x hops", "CPU")]
    for machine in machines:
        for tool in tools:
            name, cut = tool.replace("metis", "METIS"), ratio(machine, tool, "cut", "cut")
            for state, suffix, cpu in (
                ("as it comes", "", ()),
                ("mapped", "_mapped", ("map_cpu_s",)),
            ):
                seconds, hops = (
                    ratio(machine, tool, key, key + suffix) for key in ("seconds", "hop_bytes")
                )
                spent = ratio(machine, tool, "cpu_s", "cpu_s", *cpu)
                rows.append((machine, f"{name}, {state}", cut, seconds, hops, spent))
    return markdown(rows)


def partitioner_scale(lines):
    """One table for each part that was measured: sizes, points, threads, Table IV."""
    tables = []
    for part, (head, row) in SCALE_PARTS.items():
        own = [row(line) for line in lines if line["part"] == part]
        tables += [markdown([head, *own])] if own else []
    return "\n\n".join(tables)


def size_row(line):
    ratios = [f"{line[key]:.2f}" if key in line else "" for key in ("cpu_ratio", "cut_ratio")]
    return f"{line['n']:,}", f"{line['k']:,}", f"{line['cpu_s']:.2f}", line["peak_MB"], *ratios


def thread_row(line):
    seconds = (f"{line[key]:.2f}" for key in ("cpu_s", "serial_s", "two_cores_s", "speedup"))
    what = f"`{line['preset']}`, {line['objective']}"
    return f"{line['n']:,}", what, *seconds, "yes" if line["same"] else "no"


def paper_row(line):
    found = (f"{line[key]:,}" for key in ("cut", "max_volume"))
    ratios = (f"{line[key]:.3f}" for key in ("cut_ratio", "volume_ratio"))
    seconds = (f"{line[key]:.0f}" for key in ("cpu_s", "wall_s"))
    return line["machine"], line["objective"], *found, *ratios, *seconds, line["peak_MB"]


def points_row(line):
    return f"{line['n']:,}", line["d"], line["k"], f"{line['cpu_s']:.2f}", line["worst"]


SIZE_HEAD = ("vertices", "blocks", "CPU s", "peak MB", "CPU to METIS", "cut to METIS")
SCALE_PARTS = {
    "growth": (SIZE_HEAD, size_row),
    "few": (SIZE_HEAD, size_row),
    "points": (("points, k-means alone", "dimensions", "blocks", "CPU s", "worst"), points_row),
    "threads": (
        ("vertices", "what", "CPU s", "serial", "on two cores", "speedup", "same blocks"),
        thread_row,
    ),
    "rdg": (
        ("machine", "objective", "cut", "max volume", "cut to paper", "volume to paper", "CPU s",
         "wall s", "peak MB"),
        paper_row,
    ),
}  # fmt: skip


def markdown(rows):
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


TABLES = {
    "ours": partitioners,
    "ours_more": partitioners,
    "partitioners": partitioners,
    "real_inputs": real_inputs,
    "constraints": constraints,
    "powerlaw": powerlaw,
    "patience": patience,
    "enforcing": enforcing,
    "partitioner_scale": partitioner_scale,
    "geometric": geometric,
    "scale": scale,
    "mapping": mapping,
    "seconds": seconds,
    "sizing": sizing,
    "adaptive": adaptive,
    "tiling": tiling,
    "fupermod": fupermod,
    "here": here,
    "truth": truth,
    "measured": measured,
    "reading": reading,
    "generating": generating,
}

FILE_TABLES = {"real_inputs": real_files}
PREDICTION_TABLES = {"simulated": simulated}
ADVISING_TABLES = {"advise": advise}
REBALANCING_TABLES = {"rebalancing": rebalancing, "rebalancing_live": rebalancing_live}

if __name__ == "__main__":
    main()
