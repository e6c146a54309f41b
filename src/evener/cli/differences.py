"""Differences between the record of a plan and the record of the same plan made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from evener.arrays import IntArray
    from evener.cli.output import Output
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.plan import Plan
    from evener.plans.stream_plan import StreamPlan

    AnyPlan = Plan | EdgePlan | StreamPlan

Made = TypeVar("Made", bound="AnyPlan")
SHOWN = 8  # differences on the terminal; all are in the JSON object
LONGEST = 40  # characters of a value that are shown


def differences(
    plans: tuple[Made, Made],
    parts: tuple[IntArray, IntArray],
    what: str,
    where: str,
    record_of: Callable[[Made], Mapping[str, Any]],
) -> list[str]:
    """Return all differences between a plan and the plan made again, most important first.

    what, where: as in `differing_parts`; record_of: returns a plan's record, for JSON.
    """
    found = differing_parts(plans, parts, what, where)
    if parts[0].size != parts[1].size:
        return found
    then, now = (json.loads(json.dumps(record_of(plan))) for plan in plans)
    for record in (then, now):
        del record["inputs"], record["versions"]
    return found + list(differing_entries(then, now))


def differing_parts(
    plans: tuple[AnyPlan, AnyPlan], parts: tuple[IntArray, IntArray], what: str, where: str
) -> list[str]:
    """Return differences in inputs, blocks and versions between a plan and the plan made again.

    what: a noun, such as "vertices"; where: follows "are" in a sentence on those that differ,
    such as "on other devices".
    """
    (old, new), (then, now) = plans, parts
    found = []
    if digests(old) != digests(new):
        found.append("the input files differ (SHA-256)")
    if then.size != now.size:
        return [*found, f"{then.size:,} {what} then, {now.size:,} now"]
    if moved := int((then != now).sum()):
        found.append(f"{moved:,} of {now.size:,} {what} are {where}")
    for name, version in old.versions.items():
        if new.versions.get(name) != version:
            found.append(f"{name} {version} then, {new.versions.get(name, 'absent')} now")
    return found


def digests(plan: AnyPlan) -> list[str]:
    """Return the SHA-256 of a plan's inputs, sorted."""
    return sorted(str(digest) for digest in plan.inputs.values())


def differing_entries(then: Any, now: Any, place: str = "") -> Iterator[str]:
    """Yield a sentence for each differing entry of two JSON values; of a list, only the first."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in [*then, *(key for key in now if key not in then)]:
            inner = f"{place}.{key}" if place else str(key)
            if key not in now:
                yield f"{inner} differs: absent now"
            elif key not in then:
                yield f"{inner} differs: absent then"
            else:
                yield from differing_entries(then[key], now[key], inner)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for i, (one, other) in enumerate(zip(then, now, strict=True)):
            found = list(differing_entries(one, other, f"{place}[{i}]"))
            if found:
                yield found[0]
                return
    elif then != now or isinstance(then, bool) != isinstance(now, bool):
        yield f"{place} differs: {_shown(then)} then, {_shown(now)} now"


def only_known(then: Any, now: Any) -> Any:
    """Return `now` without entries that `then`, written by an older version, lacks."""
    if isinstance(then, dict) and isinstance(now, dict):
        return {key: only_known(then[key], value) for key, value in now.items() if key in then}
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [only_known(one, other) for one, other in zip(then, now, strict=True)]
    return now


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def say_replayed(
    plan: str, graph: str, differences: Sequence[str], out: Output, *, is_its_input: bool
) -> int:
    """Print whether a plan that was made again from `graph` is identical.

    Raises ToolError if it is not; InputError if `graph` is not the plan's file.
    """
    from evener.errors import InputError, ToolError

    out.result({"identical": not differences, "differences": differences})
    if not differences:
        out.say(f"Identical: {plan} is what this version makes of {graph}.")
        return 0
    more = f"; and {len(differences) - SHOWN:,} more" if len(differences) > SHOWN else ""
    message = f"not identical: {'; '.join(differences[:SHOWN])}{more}"
    if not is_its_input:
        raise InputError(message, file=plan, hint="Give the file that the plan was made from.")
    raise ToolError(message, file=plan)
