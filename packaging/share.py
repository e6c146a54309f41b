"""Writes what a wheel brings beside the package: completion of three shells.

    python packaging/share.py build/share

Installed below the environment's `share`; shells look below ~/.local and /usr/local.
"""

import sys
from pathlib import Path

from evener.cli.commands.completion import SCRIPTS, offers

PLACES = {
    "bash": "bash-completion/completions/evener",
    "zsh": "zsh/site-functions/_evener",
    "fish": "fish/vendor_completions.d/evener.fish",
}


def write_share(folder: Path) -> list[Path]:
    """Write all files; return their paths."""
    found = offers()
    files = {place: f"{SCRIPTS[shell](found)}\n" for shell, place in PLACES.items()}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [folder / name for name in files]


if __name__ == "__main__":
    write_share(Path(sys.argv[1]))
