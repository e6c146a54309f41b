"""Puts a pack of compiled kernels into a wheel, which then is for one Python on one system.

EVENER_PACK names the pack. Without it the wheel is for any Python, and its folder of packs holds
only a note, by which Evener knows that it is no checkout. EVENER_SHARE names a folder whose files
are installed below `share`: completion of shells, by share.py.
"""

import os
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "evener/machine_code/packs"
TAG = "manylinux_2_17_x86_64"  # machine code calls glibc's libm and what Numba's wheels call


class Packs(BuildHookInterface):
    """Hatchling's hook, called before a wheel is made."""

    def initialize(self, version, build_data):
        """Add the note and the pack to the wheel's files, and say for which Python it is."""
        if version == "editable":
            return
        note = Path(__file__).with_name("packs.txt")
        build_data["force_include"][str(note)] = f"{FOLDER}/{note.name}"
        if share := os.environ.get("EVENER_SHARE"):
            for path in sorted(Path(share).resolve().rglob("*")):
                if path.is_file():
                    place = path.relative_to(Path(share).resolve())
                    build_data["shared_data"][str(path)] = f"share/{place.as_posix()}"
        named = os.environ.get("EVENER_PACK")
        if not named:
            return
        pack = Path(named).resolve()
        python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        if not pack.is_file() or not pack.name.startswith(f"{python}-"):
            raise SystemExit(f"EVENER_PACK: {pack} is no pack for {python}")
        build_data["force_include"][str(pack)] = f"{FOLDER}/{pack.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-none-{TAG}"
