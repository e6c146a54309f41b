"""A process that reads and uses changed files, one a line of its input, and says what came of it.

Started by supervising.py, which ends it when a file takes too long, and starts another.
"""

import contextlib
import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

from evener.errors import EvenerError
from tests.fuzzing import samples, uses
from tests.fuzzing.changes import changed

ROOM = 2**30  # bytes beyond what the process has once all is imported and compiled
# Drawn too rarely for the good files to use it: its kernels would be compiled within a case.
RCB = ("plan", "grid.graph", *uses.MACHINE, *uses.FAST, "--with", "rcb", "-o", "x.plan")
# How often each kind is drawn.
SHARES = {"graph": 20, "mesh": 10, "meshio": 0.15, "real": 3, "foam": 4, "foam-binary": 4,
          "coords": 5, "weights": 5, "part": 12, "plan": 12,
          "machine": 14, "kernel": 4, "speeds": 7, "surface": 3,
          "trace": 6, "decisions": 4, "journal": 3, "edge-plan": 5, "stream": 5,
          "description": 4}  # fmt: skip

FOLDERS = ("foam", "foam-binary")  # kinds whose files make one mesh together
WORK = ".work"
SKIPPED = {"real": 20, "meshio": 20}  # only every so manyth is used at first


def case(files, seed, number):
    """Return the kind, the name and the changed content of a case, and what chooses its uses."""
    chance = random.Random(f"{seed} {number}")
    kinds = [kind for kind in SHARES if kind in files]
    kind = chance.choices(kinds, [SHARES[kind] for kind in kinds])[0]
    name, content = chance.choice(files[kind])
    content = changed(content, chance)
    if kind in ("graph", "mesh", "part", "coords") and chance.random() < 0.05:
        suffix, content = samples.packed(content, chance)
        name += suffix
    return kind, name, content, chance


def placed(folder, kind, name, content):
    """Write a file where its kind is read, and remove what was made of the one before."""
    for pattern in ("x.*", "x-*", "y.*", "again.*"):
        for file in folder.glob(pattern):
            file.unlink()
    path = folder / kind / name if kind in FOLDERS else folder / f"x-{name}"
    path.write_bytes(content)
    return path


def once(files, folder, seed, number):
    """Do one case in `folder`; return what is wrong, or nothing."""
    kind, name, content, chance = case(files, seed, number)
    path = placed(folder, kind, name, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numbers beyond all measure
            uses.use(kind, path.relative_to(folder).as_posix(), chance)
    except EvenerError as error:  # refused by a function at its second reading
        return f"{kind} {name}: accepted, then refused: {error}\n{traceback.format_exc()[-3000:]}"
    except uses.FoundError as error:
        return f"{kind} {name}: {error}"
    except BaseException:
        return f"{kind} {name}:\n{traceback.format_exc()[-6000:]}"
    finally:
        if kind in FOLDERS:
            path.write_bytes(dict(files[kind])[name])
    return ""


def prepared(source):
    """Return the samples and a folder of one's own, with what they go with; entered."""
    files = samples.read(source)
    (source / WORK).mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=source / WORK))  # which is removed with the samples
    for file in source.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    for kind in FOLDERS:
        shutil.copytree(source / kind, folder / kind)
    shutil.copy(source / "speeds" / "v.toml", folder / "speeds.toml")
    os.chdir(folder)
    return files, folder


def limit_memory(room=ROOM):
    """Let this process have `room` bytes more than it has."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + room, resource.getrlimit(resource.RLIMIT_AS)[1]))


def warmed(files, folder):
    """Use every good file once, RCB and all apps: importing and compiling count for no case."""
    for kind in files:
        for name, content in files[kind][:: SKIPPED.get(kind, 1)]:
            path = placed(folder, kind, name, content)
            uses.use(kind, path.relative_to(folder).as_posix(), random.Random(1))
    if uses.run(*RCB):
        raise uses.FoundError("RCB refuses a good file")
    for app in uses.APPS:
        if uses.run("run", "x.plan", "grid.graph", "--app", app):
            raise uses.FoundError(f"{app} does not run on a good plan")
    for name, content in files.get("edge-plan", ()):
        path = placed(folder, "edge-plan", name, content).name
        for app in uses.EDGE_APPS:
            uses.run("run", path, uses.graph_of_edges(name), "--app", app)


def main():
    """Answer every line `seed number` with one of JSON: what is wrong, and the memory held."""
    source = Path(sys.argv[1])
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    answers = os.fdopen(os.dup(1), "w")
    files, folder = prepared(source)
    try:
        warmed(files, folder)
        limit_memory()
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            seed, number = line.split()
            wrong = once(files, folder, seed, int(number))
            print(json.dumps(wrong), file=answers, flush=True)
    finally:
        with contextlib.suppress(OSError):
            os.chdir("/")
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
