"""The tables of what `evener reproduce` writes: findings, and predictions made here."""

from records import markdown


def fupermod(lines):
    """What the thesis did and says beside what `evener reproduce fupermod` finds, and verdicts."""
    rows = [
        (
            "in the thesis",
            "the thesis did",
            "the thesis says",
            "done here",
            "seen here",
            "criteria",
            "verdict",
        )
    ]
    keys = ("where", "did", "says", "tried", "seen", "criteria", "verdict")
    for line in (line for line in lines if line["table"] == "findings"):
        tried = "; lacking: ".join(filter(None, (line["tried"], line["lacking"])))
        rows.append([tried if key == "tried" else line[key] for key in keys])
    return markdown(rows)


def dhgp(lines):
    """What the paper says beside what `evener reproduce dhgp` sees, and verdicts."""
    rows = [("in the paper", "paper says", "we see", "criteria", "lacking", "verdict")]
    keys = ("where", "says", "seen", "criteria", "lacking", "verdict")
    rows += [[line[key] for key in keys] for line in lines if line["table"] == "findings"]
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
