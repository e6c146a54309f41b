"""Tables of the lines of `larger.py` and `larger_ranks.py`: asked beside reached, then all ratios.

A ratio is of two lines of the same graph, order, coordinates and targets; where these were measured
several times, of the medians.
"""

from collections import defaultdict
from statistics import median

from records import markdown

CELL = ("graph", "order", "coords", "targets")
LARGE, MIDDLE = "delaunay22", "delaunay20"


class Lines:
    """The lines of a part, by cell and method."""

    def __init__(self, lines, part):
        self.found = defaultdict(list)
        for line in lines:
            if line["part"] == part:
                self.found[*(line[key] for key in CELL), line["method"]].append(line)

    def cells(self, method, **wanted):
        """Cells (tuples of CELL) that have a method, and begin or are as wanted."""
        cells = [cell for *cell, name in self.found if name == method]
        return [cell for cell in cells if all(
            cell[CELL.index(key)].startswith(value) for key, value in wanted.items())]  # fmt: skip

    def of(self, cell, method, figure="cut"):
        """The median of a figure; that of graphs without coordinates where tools use none."""
        graph, order, coords, targets = cell
        for key in (coords, "bare"):
            lines = self.found.get((graph, order, key, targets, method))
            if lines:
                return median(largest(line[figure]) for line in lines if figure in line)
        return None

    def ratio(self, cell, method, base, figure="cut"):
        above, below = self.of(cell, method, figure), self.of(cell, base, figure)
        return None if above is None or not below else above / below

    def ratios(self, method, base, figure="cut", **wanted):
        found = [self.ratio(cell, method, base, figure) for cell in self.cells(method, **wanted)]
        return [one for one in found if one is not None]

    def methods(self, start):
        return list(dict.fromkeys(name for *_, name in self.found if name.startswith(start)))


def largest(value):
    """That of the busiest rank, where there are several."""
    return max(value) if isinstance(value, list) else value


def span(values, digits=3):
    """The least and the largest."""
    if not values:
        return "-"
    least, most = (f"{one:.{digits}f}" for one in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def shown(value, digits=3):
    return "-" if value is None else f"{value:,.{digits}f}"


def of_files(lines):
    parts = [Lines(lines, part) for part in ("delaunay", "grid", "rmat")]
    return "\n\n".join([asked_of_files(*parts), delaunays(parts[0]), groups(parts[0]),
                        rivals(*parts), grids(parts[1]), rmats(parts[2])])  # fmt: skip


def asked_of_files(delaunay, grid, rmat):
    rows = [("from a file", "asked", "reached", "of")]
    for graph, name in ((LARGE, "2^22"), (MIDDLE, "2^20")):
        for base, asked in (("memory", "1.02"), ("metis", "0.87")):
            found = delaunay.ratios("slices", base, graph=graph)
            rows.append((f"Delaunay {name}: cut / {base}", asked, span(found), len(found)))
        found = beside_heistream(delaunay, graph)
        rows.append((f"Delaunay {name}: cut / HeiStream's best in one pass", "0.25", *found[:2]))
        rows.append(("the same, best of restreams too", "0.25", *found[2:]))
    for method, asked in (("groups=8", "0.30 at 1.03"), ("slices", "between"),
                          ("groups=1", "0.65 at 1.00")):  # fmt: skip
        chosen = {"graph": LARGE, "targets": "topo", "coords": "coords"}
        memory = delaunay.ratios(method, "memory", "beyond_MB", **chosen)
        cut = delaunay.ratios(method, "memory", **chosen)
        name = (
            "4 groups (default)"
            if method == "slices"
            else method.replace("groups=", "") + " groups"
        )
        rows.append((f"Delaunay 2^22: peak beyond imports / memory's, {name}", asked,
                     f"{span(memory, 2)} at {span(cut)}", len(cut)))  # fmt: skip
    for order, asked in (("rows", "800 MB, 40 CPU s, 1.02"), ("random", "1 GB, 75 CPU s, 1.02")):
        for cell in grid.cells("slices", order=order):
            peak, cpu = (grid.of(cell, "slices", one) for one in ("peak_MB", "cpu_s"))
            cut = cut_to_memory(grid, cell)
            reached = f"{peak:,.0f} MB, {cpu:.1f} CPU s, {shown(cut)}"
            rows.append((f"{cell[0]}: order {order}", asked, reached, 1))
    rows += asked_of_rmat(rmat)
    return markdown(rows)


def cut_to_memory(grid, cell):
    """The cut to that of the same grid in memory, in whatever order."""
    same = grid.cells("memory", graph=cell[0])
    own = [one for one in same if one == cell] or same
    return grid.of(cell, "slices") / grid.of(own[0], "memory") if own else None


def asked_of_rmat(rmat):
    rows = []
    for graph in ("rmat20", "rmat18"):
        for figure, name, asked in (("cut", "cut", "1.01"), ("cpu_s", "CPU", "0.3")):
            found = rmat.ratios("slices", "memory", figure, graph=graph)
            rows.append((f"R-MAT {graph[4:]}: {name} / memory", asked, span(found), len(found)))
    one, one_of, best, best_of = beside_heistream(rmat, "rmat18")
    rows.append(("R-MAT 18, equal: cut / HeiStream's best in one pass", "0.8", one, one_of))
    rows.append(("the same, best of restreams too", "0.8", best, best_of))
    return rows


def beside_heistream(lines, graph):
    """The cut to HeiStream's least, in one pass and in any number; and of how many graphs."""
    settings = lines.methods("heistream")
    one = [name for name in settings if name.endswith("passes=1")]
    found = []
    for chosen in (one, settings):
        least = defaultdict(list)
        for name in chosen:
            for cell in lines.cells(name, graph=graph):
                least[tuple(cell)].append(lines.of(cell, name))
        ratios = [lines.of(cell, "slices") / min(cuts) for cell, cuts in least.items()]
        found += [span(ratios), len(ratios)]
    return found


def delaunays(lines):
    rows = [("graph", "order", "coordinates", "targets", "cut", "/ memory", "/ METIS", "CPU s",
             "memory: CPU s", "METIS: CPU s", "MB beyond imports", "/ memory")]  # fmt: skip
    for cell in lines.cells("slices"):
        graph, order, coords, targets = cell
        rows.append((graph, order, "yes" if coords == "coords" else "no", targets,
                     shown(lines.of(cell, "slices"), 0),
                     shown(lines.ratio(cell, "slices", "memory")),
                     shown(lines.ratio(cell, "slices", "metis")),
                     *(shown(lines.of(cell, method, "cpu_s"), 1)
                       for method in ("slices", "memory", "metis")),
                     shown(lines.of(cell, "slices", "beyond_MB"), 0),
                     shown(lines.ratio(cell, "slices", "memory", "beyond_MB"), 2)))  # fmt: skip
    return markdown(rows)


def groups(lines):
    rows = [("graph", "order", "groups", "cut / memory", "CPU s", "MB beyond imports", "/ memory")]
    for cell in lines.cells("groups=1"):
        for method in ("groups=1", "slices", "groups=8"):
            count = "4 (default)" if method == "slices" else method.removeprefix("groups=")
            rows.append((*cell[:2], count, shown(lines.ratio(cell, method, "memory")),
                         shown(lines.of(cell, method, "cpu_s"), 1),
                         shown(lines.of(cell, method, "beyond_MB"), 0),
                         shown(lines.ratio(cell, method, "memory", "beyond_MB"), 2)))  # fmt: skip
    return markdown(rows)


def rivals(*parts):
    rows = [("graph", "order", "targets", "rival", "its cut / ours", "its CPU s", "ours",
             "smallest", "largest")]  # fmt: skip
    for lines in parts:
        for start in ("metis-recursive", "heistream", "ldg", "fennel", "curve"):
            for method in lines.methods(start):
                for cell in lines.cells(method):
                    graph, order, _, targets = cell
                    least, most = (lines.of(cell, method, one) for one in ("least", "most"))
                    rows.append((graph, order, targets, method,
                                 shown(lines.ratio(cell, method, "slices"), 2),
                                 shown(lines.of(cell, method, "cpu_s"), 1),
                                 shown(lines.of(cell, "slices", "cpu_s"), 1), shown(least),
                                 shown(most)))  # fmt: skip
    return markdown(rows)


def grids(lines):
    rows = [("graph", "order", "method", "cut", "CPU s", "reading apart", "peak MB",
             "MB beyond imports", "wall s")]  # fmt: skip
    for method in ("slices", "memory"):
        for cell in lines.cells(method):
            reading = lines.of(cell, method, "read_s") if method == "memory" else None
            wall = lines.of(cell, method, "wall_s") if method == "slices" else None
            rows.append((*cell[:2], method, shown(lines.of(cell, method), 0),
                         shown(lines.of(cell, method, "cpu_s"), 1), shown(reading, 1),
                         shown(lines.of(cell, method, "peak_MB"), 0),
                         shown(lines.of(cell, method, "beyond_MB"), 0),
                         shown(wall, 0)))  # fmt: skip
    return markdown(rows)


def rmats(lines):
    rows = [("graph", "targets", "cut", "/ memory", "CPU s", "/ memory", "MB beyond imports",
             "/ memory")]  # fmt: skip
    for cell in lines.cells("slices"):
        figures = []
        for figure, digits in (("cut", 0), ("cpu_s", 2), ("beyond_MB", 0)):
            figures.append(shown(lines.of(cell, "slices", figure), digits))
            figures.append(shown(lines.ratio(cell, "slices", "memory", figure)))
        rows.append((cell[0], cell[3], *figures))
    return markdown(rows)


def of_ranks(lines):
    parts = [Lines(lines, part) for part in ("delaunay", "rmat", "scotch")]
    return "\n\n".join([asked_of_ranks(*parts), ranks(parts[0]), ranks(parts[1]), scotch(parts[2])])


RANKS = tuple(f"ranks={p}" for p in (1, 2, 4, 8))


def asked_of_ranks(delaunay, rmat, scotch):
    rows = [("on ranks", "asked", "reached", "of")]
    for name, lines, wanted, asked in (
        ("Delaunay 2^22 along the curve", delaunay, {"order": "hilbert"}, "1.015"),
        ("random slices", delaunay, {"order": "random"}, "1.02"), ("R-MAT", rmat, {}, "1.01"),
    ):  # fmt: skip
        found = [one for p in RANKS for one in lines.ratios(p, "memory", **wanted)]
        rows.append((f"{name}: cut / memory, 1, 2, 4, 8 ranks", asked, span(found), len(found)))
    for figure, base, name, asked in (
        ("cpu_s", "ranks=1", "CPU to that of one rank", "0.6"),
        ("beyond_MB", "memory", "MB beyond imports / memory's", "0.35"),
    ):
        found = delaunay.ratios("ranks=4", base, figure, order="hilbert")
        rows.append((f"busiest of 4 ranks: {name}", asked, span(found, 2), len(found)))
    found = rmat.ratios("ranks=1", "memory", "cpu_s")
    rows.append(("R-MAT: CPU of one rank / memory's, both without reading", "0.3", span(found, 2),
                 len(found)))  # fmt: skip
    for order in ("hilbert", "random"):
        sent = [delaunay.of(cell, "ranks=4", "sent_B") / delaunay.of(cell, "ranks=4", "n")
                for cell in delaunay.cells("ranks=4", order=order)]  # fmt: skip
        rows.append((f"sent by all of 4 ranks, bytes a vertex, order {order}", "20", span(sent, 1),
                     len(sent)))  # fmt: skip
    found = [min(scotch.ratios("ranks=4", name), default=0) for name in scotch.methods("pt-scotch")]
    rows.append(("cut / PT-Scotch's, by strategy", "0.90", span(found), len(found)))
    return markdown(rows)


def ranks(lines):
    rows = [("graph", "order", "coordinates", "ranks", "cut / memory", "same blocks",
             "CPU s by rank", "reading and checks", "MB beyond imports by rank",
             "bytes sent a vertex", "sent by checks")]  # fmt: skip
    for method in RANKS:
        for cell in lines.cells(method):
            line, first = lines.found[*cell, method][0], lines.found[*cell, "ranks=1"][0]
            graph, order, coords, _ = cell
            listed = [", ".join(map(str, line[key])) for key in ("cpu_s", "read_s", "beyond_MB")]
            each = [f"{line[key] / line['n']:.1f}" for key in ("sent_B", "read_sent_B")]
            rows.append((graph, order, "yes" if coords == "coords" else "no",
                         method.removeprefix("ranks="),
                         shown(lines.ratio(cell, method, "memory")),
                         "yes" if line["blocks"] == first["blocks"] else "no", *listed,
                         *each))  # fmt: skip
    return markdown([rows[0], *sorted(rows[1:], key=lambda row: (row[0], row[1], row[2]))])


def scotch(lines):
    rows = [("graph", "method", "cut", "ours / its", "CPU s of all, with reading", "smallest",
             "largest")]  # fmt: skip
    for method in lines.methods(""):
        for cell in lines.cells(method):
            line = lines.found[*cell, method][0]
            seconds = sum(sum(one) if isinstance(one, list) else one for one in (
                line["cpu_s"], line.get("read_s", 0)))  # fmt: skip
            rows.append((cell[0], method, f"{line['cut']:,}",
                         shown(lines.ratio(cell, "ranks=4", method)), f"{seconds:.1f}",
                         line["least"], line["most"]))  # fmt: skip
    return markdown(rows)
