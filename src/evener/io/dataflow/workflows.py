"""Reads workflows as stream graphs: Pegasus DAX, and WfCommons JSON (WfFormat 1.3 to 1.5).

A task is a filter, run for each of many inputs; its instructions are its seconds times
REFERENCE_RATE. An edge carries the bytes of the files that one task writes and the other reads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from evener.graphs.stream_graph import EdgeRow, FilterRow, StreamGraph
from evener.io.dataflow.listed import REFERENCE_RATE, Listed, number_in
from evener.io.json_text import loads
from evener.io.sources import Source
from evener.io.xml_tree import attribute, elements, xml_tree

NEGATIVE = "Some seconds or bytes are negative; they are treated as zero."
UNSIZED = "Some files have no size; they are treated as empty."
_ADAG = re.compile(rb"<(\w+:)?adag\b")


def recognises_dax(source: Source) -> bool:
    """Return whether the file has an `adag` element near its beginning."""
    return source.is_xml and _ADAG.search(source.data[: 1 << 14]) is not None


def recognises_wfcommons(source: Source) -> bool:
    """Return whether the file is JSON with a `workflow`."""
    head = source.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith(b"{") and b'"workflow"' in source.data


def read_dax(source: Source) -> StreamGraph:
    """Return the graph of a Pegasus DAX: jobs, the files they use, and parent-child relations."""
    root = xml_tree(source.data, None, source.path)
    seconds: dict[str, float] = {}
    writes: dict[str, dict[str, float]] = {}
    reads: dict[str, dict[str, float]] = {}
    for job in elements(root, "job"):
        name = attribute(job, "id", source.path)
        if name in seconds:
            raise source.error(f"has two jobs {name!r}")
        seconds[name] = _number(source, job.get("runtime"), f"runtime of job {name!r}")
        writes[name], reads[name] = {}, {}
        for use in elements(job, "uses"):
            file, link = use.get("file") or use.get("name") or "", use.get("link", "input")
            size = _size(source, use.get("size"), file)
            if link in ("output", "inout"):
                writes[name][file] = size
            if link in ("input", "inout"):
                reads[name][file] = size
    pairs = [
        (attribute(parent, "ref", source.path), attribute(child, "ref", source.path))
        for child in elements(root, "child")
        for parent in elements(child, "parent")
    ]
    return _graph(source, seconds, pairs, writes, reads)


def _size(source: Source, text: str | None, file: str) -> float:
    if text is None:
        _note(source, UNSIZED)
        return 0.0
    return _counted(source, _number(source, text, f"size of {file!r}"))


def read_wfcommons(source: Source) -> StreamGraph:
    """Return the graph of a WfCommons instance: tasks, their files, and their parents."""
    try:
        workflow = loads(source.data.decode("utf-8-sig"))["workflow"]
        if "specification" in workflow:
            return _of_specification(source, workflow)
        return _of_tasks(source, workflow)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise source.error(f"is not a WfCommons workflow: {error!r}") from error


def _of_specification(source: Source, workflow: Mapping[str, Any]) -> StreamGraph:
    tasks = workflow["specification"]["tasks"]
    files = workflow["specification"].get("files", [])
    size = {file["id"]: _counted(source, float(file["sizeInBytes"])) for file in files}
    runs = workflow.get("execution", {}).get("tasks", [])
    seconds = {run["id"]: float(run["runtimeInSeconds"]) for run in runs}
    missing = [task["id"] for task in tasks if task["id"] not in seconds]
    if missing:
        raise source.error(f"has no runtimeInSeconds for task {missing[0]!r}")
    seconds = {task["id"]: seconds[task["id"]] for task in tasks}
    if len(seconds) < len(tasks):
        raise source.error("has two tasks with the same id")
    writes = {t["id"]: {f: size[f] for f in t.get("outputFiles", [])} for t in tasks}
    reads = {t["id"]: {f: size[f] for f in t.get("inputFiles", [])} for t in tasks}
    return _graph(source, seconds, _pairs(tasks, "id"), writes, reads)


def _pairs(tasks: Iterable[Mapping[str, Any]], key: str) -> list[tuple[str, str]]:
    """Return all (parent, child) pairs that the tasks state; either of the two may state them."""
    found = []
    for task in tasks:
        found += [(parent, task[key]) for parent in task.get("parents", [])]
        found += [(task[key], child) for child in task.get("children", [])]
    return found


def _of_tasks(source: Source, workflow: Mapping[str, Any]) -> StreamGraph:
    """Read a workflow of a version before 1.5, where each task contains its files and run time."""
    tasks = workflow.get("tasks") or workflow["jobs"]
    key = "id" if all("id" in task for task in tasks) else "name"
    seconds: dict[str, float] = {}
    writes, reads = {}, {}
    for task in tasks:
        name = task[key]
        if name in seconds:
            raise source.error(f"has two tasks {name!r}")
        runtime = task.get("runtimeInSeconds", task.get("runtime"))
        if runtime is None:
            raise source.error(f"has no runtimeInSeconds for task {name!r}")
        seconds[name] = float(runtime)
        files: dict[str, dict[str, float]] = {"output": {}, "input": {}}
        for file in task.get("files", []):
            size = _counted(source, float(file.get("sizeInBytes", file.get("size", 0))))
            files[file["link"]][file.get("name") or file["id"]] = size
        writes[name], reads[name] = files["output"], files["input"]
    return _graph(source, seconds, _pairs(tasks, key), writes, reads)


def _graph(
    source: Source,
    seconds: Mapping[str, float],
    pairs: Iterable[tuple[str, str]],
    writes: Mapping[str, Mapping[str, float]],
    reads: Mapping[str, Mapping[str, float]],
) -> StreamGraph:
    """Return the graph of tasks with run times; each distinct pair becomes one edge."""
    filters = [
        FilterRow(str(name), _counted(source, value) * REFERENCE_RATE)
        for name, value in seconds.items()
    ]
    edges = [
        EdgeRow(str(tail), str(head), _shared(writes.get(tail, {}), reads.get(head, {})))
        for tail, head in dict.fromkeys(pairs)
    ]
    return Listed(source, filters, edges).graph()


def _counted(source: Source, value: float) -> float:
    """Return seconds or bytes; negative ones, which some traces contain, become 0 with a note."""
    if not math.isfinite(value):
        raise source.error(f"has seconds or bytes that are not finite: {value}")
    if value < 0:
        _note(source, NEGATIVE)
    return max(value, 0.0)


def _note(source: Source, text: str) -> None:
    if text not in source.notes:
        source.notes.append(text)


def _shared(written: Mapping[str, float], read: Mapping[str, float]) -> float:
    """Return the total bytes of the files that one task writes and another task reads."""
    fewer = written if len(written) <= len(read) else read  # a task may write to many others
    return sum(written[file] for file in fewer if file in written and file in read)


def _number(source: Source, text: str | None, what: str) -> float:
    """Parse a text as a number; raise InputError, which mentions `what`, if it is not a number."""
    value = number_in(text or "")
    if value is None:
        raise source.error(f"needs a number as {what}")
    return value
