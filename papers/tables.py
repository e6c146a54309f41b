"""Writes the tables of the papers' pages from the recorded results.

    python -m papers.tables

A table stands between the comments `begin NAME` and `end NAME` of a page; NAME.jsonl beside the
page has its lines, as the command of a paper writes them (numbers.jsonl).
"""

import json
import re
from pathlib import Path
from statistics import geometric_mean, median

HERE = Path(__file__).parent


def main():
    for page in PAGES:
        page.write_text(updated(page))


def updated(page):
    """The page's text with every table made anew."""
    text = page.read_text()
    for name, table_of in PAGES[page].items():
        table = table_of(lines_of(page.parent / f"{name}.jsonl"))
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        pattern = f"(?<={begin}\n).*(?={end})"
        text, found = re.subn(pattern, lambda _, t=table: t + "\n", text, flags=re.DOTALL)
        assert found == 1, f"{page}: {begin} is to stand there once"
    return text


def lines_of(path):
    """All lines of a file of results."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def markdown(rows):
    """A table of rows, the first of which is its head."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def cla14(lines):
    """What the thesis did and says beside what `python -m papers.cla14` finds, and verdicts."""
    rows = [
        (
            "in the thesis",
            "the thesis did",
            "the thesis says",
            "done here",
            "seen here",
            "criteria",
            "the same test of a counter-example",
            "verdict",
        )
    ]
    keys = ("where", "did", "says", "tried", "seen", "criteria", "counter", "verdict")
    for line in (line for line in lines if line["table"] == "findings"):
        tried = "; lacking: ".join(filter(None, (line["tried"], line["lacking"])))
        rows.append([tried if key == "tried" else line[key] for key in keys])
    return markdown(rows)


def spac(lines):
    """What the paper says beside what `python -m papers.spac` sees; matrices and methods below."""
    parts = (with_counters, matrices_of, methods_of, nets_of)
    return "\n\n".join(part(lines) for part in parts)


def nets_of(lines):
    """Copies of circuit5M's stand-in, of all vertices, by the number of blocks."""
    own = [line for line in lines if line["table"] in ("copies", "nets")
           and line["matrix"] == "circuit5M"]  # fmt: skip
    names = dict.fromkeys(line["method"] for line in lines if line["table"] == "nets")
    rows = [("circuit5M in", *(f"{name}: copies / vertices" for name in names),
             "SPAC, ring / hypergraph")]  # fmt: skip
    for k in sorted({line["k"] for line in own}):
        found = [median(line["copies"] / line["vertices"] for line in own
                        if (line["k"], line["method"]) == (k, name)) for name in names]  # fmt: skip
        by_name = dict(zip(names, found, strict=True))
        ratio = by_name["SPAC, ring"] / by_name["hypergraph"]
        rows.append((f"{k} blocks", *(f"{one:.3f}" for one in found), f"{ratio:.2f}"))
    return markdown(rows)


def matrices_of(lines):
    """Sizes of each matrix, and by its vertices the copies of the file's order and the fewest."""
    rows = [("matrix", "from", "vertices", "entries", "entries of a row", "largest degree",
             "file's order: copies / vertices", "fewest")]  # fmt: skip
    for line in (line for line in lines if line["table"] == "matrices"):
        own = medians_of(lines, line["matrix"], "copies")
        shares = (own["file's order"], min(own.values()))
        sizes = [f"{line[key]:,}" for key in ("vertices", "entries", "entries_of_row",
                                              "largest_degree")]  # fmt: skip
        rows.append((line["matrix"], line["kind"], *sizes,
                     *(f"{share / line['vertices']:.3f}" for share in shares)))  # fmt: skip
    return markdown(rows)


def methods_of(lines):
    """Medians over runs of copies and CPU seconds of each method on each matrix."""
    names = [line["matrix"] for line in lines if line["table"] == "matrices"]
    copies, seconds = ([medians_of(lines, name, key) for name in names]
                       for key in ("copies", "cpu_s"))  # fmt: skip
    rows = [("method", *(f"{name}: copies; CPU s" for name in names))]
    for method in copies[0]:
        cells = zip(copies, seconds, strict=True)
        rows.append((method, *(f"{n[method]:,.0f}; {t[method]:.2f}" for n, t in cells)))
    return markdown(rows)


def medians_of(lines, matrix, key):
    """The median over runs of a figure, by method."""
    found = {}
    for line in lines:
        if line["table"] == "copies" and line["matrix"] == matrix:
            found.setdefault(line["method"], []).append(line[key])
    return {method: median(values) for method, values in found.items()}


def hmap(lines):
    """What the paper says beside what we see; bars of Figure 3; ratios on real graphs."""
    return "\n\n".join((with_counters(lines), bars_of(lines), real_graphs_of(lines)))


BARS = ("metis", "hmap", "hmap-up")


def bars_of(lines):
    """Mean periods in ms by class, setting, equation and machine; geometric means in brackets."""
    bars = {(line["paper_class"], line["setting"], line["equation"], line["k"], line["method"]):
            line for line in lines if line["table"] == "bars"}  # fmt: skip
    machines = sorted({key[3] for key in bars}, key=lambda k: (k == 0, k))
    rows = [("class, setting, equation",
             *(f"{k:,} processors" if k else "mean" for k in machines))]  # fmt: skip
    for group in sorted({key[:3] for key in bars}, key=lambda one: one[::-1]):
        cells = ([bars.get((*group, k, method)) for method in BARS] for k in machines)
        rows.append((", ".join(group), *map(bars_cell, cells)))
    return markdown(rows)


def bars_cell(found):
    if found[0] is None:
        return "-"
    return "; ".join(f"{1e3 * bar['mean']:.3g} ({1e3 * bar['geometric']:.3g})" for bar in found)


def real_graphs_of(lines):
    """Geometric means over machines of METIS's and HMAP's periods over ours, by our reading."""
    real = [line for line in lines if line["table"] == "real" and line["equation"] == "our reading"]
    heads = (f"{name}, {s}" for s in "AB" for name in ("METIS / ours", "HMAP / ours"))
    rows = [("graph", "filters", "edges", *heads)]
    for graph in dict.fromkeys(line["graph"] for line in real):
        own = [line for line in real if line["graph"] == graph]
        ratios = (
            [line[name] / line["ours"] for line in own if line["setting"] == s and name in line]
            for s in "AB" for name in ("metis", "hmap")
        )  # fmt: skip
        shown = (f"{geometric_mean(found):.2f}" if found else "-" for found in ratios)
        rows.append((graph.removesuffix(".zst"), own[0]["n"], own[0]["m"], *shown))
    return markdown(rows)


def ldht(lines):
    """What the paper says beside what we see; Table III; means by figure; Table IV; iterations."""
    parts = (with_counters, fillings, means_of_figures, of_table_iv, iterations)
    return "\n\n".join(part(lines) for part in parts)


def with_counters(lines):
    """All findings, with what the criteria say of the counter-example."""
    rows = [("in the paper", "paper says", "we see", "criteria", "lacking", "counter-example",
             "verdict")]  # fmt: skip
    keys = ("where", "says", "seen", "criteria", "lacking", "counter", "verdict")
    rows += [[line[key] for key in keys] for line in lines if line["table"] == "findings"]
    return markdown(rows)


def fillings(lines):
    """Table III's last column: as printed, at 5/6, and at which fillings it is as printed."""
    rows = [("speed", "fast devices", "printed", "at 5/6", "fillings that round to it",
             "saturated from")]  # fmt: skip
    rows += [
        (f"{line['speed']:g}", line["fast"], line["printed"], f"{line['ratio']:.2f}",
         f"{line['filling_low']:.4f} to {line['filling_high']:.4f}",
         f"{line['saturated_from']:.4f}")
        for line in lines if line["table"] == "table-iii"
    ]  # fmt: skip
    return markdown(rows)


def means_of_figures(lines):
    """Cut, maximum volume and CPU seconds relative to geoKM, by figure, kind of graph and tool."""
    cells = {}
    for line in (one for one in lines if one["table"] == "cells" and "cut" in one):
        figure = f"{line['figure']}{'ab'[line['dims'] - 2] if line['figure'] == '2' else ''}"
        key = (line["graph"], line["n"], line["machine"], line["k"])
        cells.setdefault(figure, {}).setdefault(key, {})[line["tool"]] = line
    tools = dict.fromkeys(line["tool"] for line in lines if line["table"] == "cells")
    rows = [("tool", *(f"Figure {name}: cut, volume, time" for name in cells))]
    for tool in tools:
        found = []
        for group in cells.values():
            both = [(one[tool], one["geoKM"]) for one in group.values() if tool in one]
            found.append(", ".join(
                f"{geometric_mean(own[key] / base[key] for own, base in both):.3f}"
                for key in ("cut", "max_volume", "cpu_s")) if both else "-")  # fmt: skip
        rows.append((tool, *found))
    return markdown(rows)


def of_table_iv(lines):
    """Cut and maximum volume of each tool on Table IV's machines, with memory and without."""
    own = [line for line in lines if line["table"] == "table-iv" and "cut" in line]
    machines = list(dict.fromkeys(line["machine"] for line in own))
    rows = [("memory", "tool", *(f"{name}: cut, volume, CPU s" for name in machines))]
    by_place = {(line["caps"], line["tool"], line["machine"]): line for line in own}
    for caps, tool in dict.fromkeys((line["caps"], line["tool"]) for line in own):
        cells = (by_place[caps, tool, name] for name in machines)
        rows.append(
            (
                "Table III" if caps else "none",
                tool,
                *(f"{one['cut']:,.0f}, {one['max_volume']:,}, {one['cpu_s']:.1f}" for one in cells),
            )
        )
    targets = ("largest by least target", "", *(
        " and ".join(f"{line['target_ratio']:.2f}" for line in own
                     if line["machine"] == name and line["tool"] == "geoKM")
        for name in machines))  # fmt: skip
    return markdown([*rows, targets])


def iterations(lines):
    """Emulated seconds of CG and SpMV on each machine of Figure 5, and ms on two cores."""
    own = [line for line in lines if line["table"] == "cells" and "cg_s" in line]
    machines = dict.fromkeys((line["k"], line["machine"]) for line in own)
    cores = [line for line in lines if line["table"] == "cores"]
    rows = [("tool", *(f"{k} {name[3:]}: CG, SpMV" for k, name in machines),
             "two cores, ms: CG, SpMV")]  # fmt: skip
    by_place = {(line["tool"], line["k"], line["machine"]): line for line in own}
    for tool in dict.fromkeys(line["tool"] for line in own):
        cells = (by_place.get((tool, *place)) for place in machines)
        here = [[1e3 * line[key] for line in cores if line["tool"] == tool]
                for key in ("cg_s", "spmv_s")]  # fmt: skip
        rows.append(
            (
                tool,
                *(f"{one['cg_s']:.3f}, {one['spmv_s']:.3f}" if one else "-" for one in cells),
                ", ".join(f"{median(turns):.2f}" for turns in here) if all(here) else "-",
            )
        )
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


PAGES = {
    HERE / "README.md": {"here": here},
    HERE / "cla14" / "README.md": {"results": cla14},
    HERE / "guo16" / "README.md": {"results": with_counters},
    HERE / "spac" / "README.md": {"results": spac},
    HERE / "hmap" / "README.md": {"results": hmap},
    HERE / "ldht" / "README.md": {"results": ldht, "large": of_table_iv},
}


if __name__ == "__main__":
    main()
