"""The tables of partitioner_scale.py: sizes, points, threads, Table IV."""

from records import markdown


def table(lines):
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
    keys = ("cut_ratio", "volume_ratio", "cut_to_metis", "metis_to_parmetis")
    ratios = (f"{line[key]:.3f}" for key in keys)
    machine = f"{line['fast_to_slow']:.1f}"
    return line["machine"], line["memory"], machine, *found, *ratios, f"{line['cpu_s']:.0f}"


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
        ("machine", "memory", "largest to smallest target", "cut", "max volume", "cut to paper",
         "volume to paper", "cut to METIS", "METIS to paper's ParMetis", "CPU s"),
        paper_row,
    ),
}  # fmt: skip  # fmt: skip
