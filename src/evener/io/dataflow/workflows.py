"""Reads workflows as stream graphs: Pegasus DAX, and WfCommons JSON (WfFormat 1.3 to 1.5).

A task is a filter, run for each of many inputs; its instructions are its seconds times
REFERENCE_RATE. An edge carries the bytes of the files that one task writes and the other reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from evener.graphs.stream_graph import StreamGraph
from evener.io.dataflow.listed import REFERENCE_RATE, Listed
from evener.io.json_text import loads
from evener.io.sources import Source

NEGATIVE = "Some seconds or bytes are negative: they count as none."
_ADAG = re.compile(rb"<(\w+:)?adag\b")
_ENTITY = re.compile(rb"<!(DOCTYPE|ENTITY)")


def recognises_dax(source: Source) -> bool:
    """Return whether the file has an `adag` element near its beginning."""
    return _ADAG.search(source.data[: 1 << 14]) is not None


def recognises_wfcommons(source: Source) -> bool:
    """Return whether the file is JSON with a `workflow`."""
    return source.head.lstrip().startswith(b"{") and b'"workflow"' in source.data


def read_dax(source: Source) -> StreamGraph:
    """Return the graph of a Pegasus DAX: jobs, the files they use, parents of children."""
    root = xml_root(source)
    listed = Listed(source)
    writes: dict[str, dict[str, float]] = {}
    reads: dict[str, dict[str, float]] = {}
    for job in elements(root, "job"):
        name = attribute(source, job, "id")
        seconds = number(source, job.get("runtime"), f"runtime of job {name!r}")
        listed.add_filter(name, _counted(source, seconds) * REFERENCE_RATE)
        for use in elements(job, "uses"):
            file = use.get("file") or use.get("name") or ""
            size = _counted(source, number(source, use.get("size", "0"), f"size of {file!r}"))
            chosen = writes if use.get("link") == "output" else reads
            chosen.setdefault(name, {})[file] = size
    for child in elements(root, "child"):
        head = attribute(source, child, "ref")
        for parent in elements(child, "parent"):
            tail = attribute(source, parent, "ref")
            listed.add_edge(tail, head, _shared(writes.get(tail, {}), reads.get(head, {})))
    return listed.graph()


def read_wfcommons(source: Source) -> StreamGraph:
    """Return the graph of a WfCommons instance: tasks, their files, their parents."""
    try:
        workflow = loads(source.data.decode())["workflow"]
        if "specification" in workflow:
            return _of_specification(source, workflow)
        return _of_tasks(source, workflow)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise source.error(f"is no workflow of WfCommons: {error!r}") from error


def _of_specification(source: Source, workflow: Mapping[str, Any]) -> StreamGraph:
    tasks = workflow["specification"]["tasks"]
    files = workflow["specification"].get("files", [])
    size = {file["id"]: _counted(source, float(file["sizeInBytes"])) for file in files}
    runs = workflow.get("execution", {}).get("tasks", [])
    seconds = {run["id"]: float(run["runtimeInSeconds"]) for run in runs}
    missing = [task["id"] for task in tasks if task["id"] not in seconds]
    if missing:
        raise source.error(f"has no runtimeInSeconds of task {missing[0]!r}")
    writes = {t["id"]: {f: size[f] for f in t.get("outputFiles", [])} for t in tasks}
    reads = {t["id"]: {f: size[f] for f in t.get("inputFiles", [])} for t in tasks}
    return _graph(source, [(t["id"], t.get("parents", [])) for t in tasks], seconds, writes, reads)


def _of_tasks(source: Source, workflow: Mapping[str, Any]) -> StreamGraph:
    """Of versions before 1.5: tasks hold files and seconds themselves."""
    tasks = workflow.get("tasks") or workflow["jobs"]
    seconds, writes, reads, parents = {}, {}, {}, []
    for task in tasks:
        name = task.get("id") or task["name"]
        runtime = task.get("runtimeInSeconds", task.get("runtime"))
        if runtime is None:
            raise source.error(f"has no runtimeInSeconds of task {name!r}")
        seconds[name] = float(runtime)
        files: dict[str, dict[str, float]] = {"output": {}, "input": {}}
        for file in task.get("files", []):
            size = _counted(source, float(file.get("sizeInBytes", file.get("size", 0))))
            files[file["link"]][file.get("name") or file["id"]] = size
        writes[name], reads[name] = files["output"], files["input"]
        parents.append((name, task.get("parents", [])))
    return _graph(source, parents, seconds, writes, reads)


def _graph(
    source: Source,
    parents: Iterable[tuple[str, list[str]]],
    seconds: Mapping[str, float],
    writes: Mapping[str, Mapping[str, float]],
    reads: Mapping[str, Mapping[str, float]],
) -> StreamGraph:
    listed = Listed(source)
    for name, _ in parents:
        listed.add_filter(name, _counted(source, seconds[name]) * REFERENCE_RATE)
    for name, above in parents:
        for parent in above:
            listed.add_edge(parent, name, _shared(writes.get(parent, {}), reads[name]))
    return listed.graph()


def _counted(source: Source, value: float) -> float:
    """Return seconds or bytes; negative ones, which traces have, are none, and a note says so."""
    if value < 0 and NEGATIVE not in source.notes:
        source.notes.append(NEGATIVE)
    return max(value, 0.0)


def _shared(written: Mapping[str, float], read: Mapping[str, float]) -> float:
    """Bytes of the files that one task writes and another one reads."""
    return sum(size for file, size in written.items() if file in read)


def xml_root(source: Source) -> ET.Element:
    """Return the root of an XML file. Raises InputError for others, and for declared entities."""
    if _ENTITY.search(source.data):
        raise source.error("declares a document type or entities, which are not read")
    try:
        return ET.fromstring(source.data)
    except (ET.ParseError, ValueError) as error:
        raise source.error(f"is not XML: {error}") from error


def elements(parent: ET.Element, tag: str) -> list[ET.Element]:
    """Return the children of this name, whatever their namespace."""
    return [one for one in parent if one.tag.rpartition("}")[2] == tag]


def attribute(source: Source, element: ET.Element, key: str) -> str:
    """Return an attribute that must be there."""
    value = element.get(key)
    if not value:
        raise source.error(f"has a {element.tag.rpartition('}')[2]} without {key}")
    return value


def number(source: Source, text: str | None, what: str) -> float:
    """Return a number that stands in a text."""
    try:
        return float(text or "")
    except ValueError as error:
        raise source.error(f"has no number as {what}") from error
