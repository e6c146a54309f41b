"""Reads the keys host, cores and gpu of [[device]] tables, for one device or all its copies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evener.errors import InputError
from evener.io.machines import toml_tables as tables
from evener.io.machines.toml_syntax import toml_text
from evener.platforms.device import Device
from evener.platforms.homes import check_gpu, check_node, checked_cores, cores_of_text, cores_text
from evener.platforms.hosts import hosts_of

Home = dict[str, Any]  # fields of a Device: host, node, cores, gpu


def homes_of(
    table: Mapping[str, Any], index: int, names: Sequence[str], counts: Mapping[str, int]
) -> list[Home]:
    """Return the location of each device of the index-th table; names: the devices' names.

    If the table has host_GB_per_s, `host` is the device's host device, else its node. counts:
    number of devices of each table by name, 0 for a single device. Raises TableError with the wrong
    key.
    """
    found: dict[str, list[Any]] = {}
    is_behind = "host_GB_per_s" in table or "host_alpha_us" in table
    if is_behind and "host" in table:
        try:
            found["host"] = _hosts(table, names, counts)
        except InputError as error:
            raise tables.TableError(error.message, "device", index, "host") from error
    for key, field, read in _KEYS[is_behind:]:
        if key not in table:
            continue
        try:
            found[field] = [read(one) for one in _of_each(key, table, len(names))]
        except InputError as error:
            message = f"{key} of {tables.titled(table, 'device')}: {error.message}"
            raise tables.TableError(message, "device", index, key) from error
    homes = [{key: values[i] for key, values in found.items()} for i in range(len(names))]
    for key in ("cores", "gpu"):
        if key in table and not isinstance(table[key], list):
            _refuse_shared(key, table, index, homes)
    return homes


def home_lines(devices: Sequence[Device], is_counted: bool) -> list[str]:
    """Return the lines that state the location of one table's devices, without host devices."""
    first, lines = devices[0], []
    if first.node and not first.host:
        nodes = [device.node for device in devices]
        lines.append(f"host = {_listed(map(toml_text, nodes), len(set(nodes)) > 1)}")
    if first.cores:
        cores = [toml_text(cores_text(device.cores)) for device in devices]
        lines.append(f"cores = {_listed(cores, is_counted)}")
    if first.gpu is not None:
        gpus = [d.gpu if isinstance(d.gpu, int) else toml_text(str(d.gpu)) for d in devices]
        lines.append(f"gpu = {_listed(map(str, gpus), is_counted)}")
    return lines


def says_where(device: Device) -> tuple[bool, bool, bool]:
    """Return which of host, cores and gpu are stated, the same for all devices of a table."""
    return bool(device.node), bool(device.cores), device.gpu is not None


def _listed(values: Iterable[str], as_list: bool) -> str:
    one, *others = values
    return f"[{', '.join([one, *others])}]" if as_list else one


def _of_each(key: str, table: Mapping[str, Any], n: int) -> list[Any]:
    """Return the value for each of the n devices of a table, from a list or one common value."""
    value = table[key]
    if "count" not in table:
        if key != "cores" and isinstance(value, list):
            raise InputError("a list has one entry for each device of a table, but count is 1")
        return [value]
    if not isinstance(value, list):
        return [value] * n
    if len(value) != n:
        raise InputError(f"the list has {len(value):,} entries, but the table has {n:,} devices")
    return value


def _node(value: Any) -> str:
    check_node(value)
    return str(value)


def _cores(value: Any) -> tuple[int, ...]:
    if isinstance(value, str):
        return cores_of_text(value)
    if isinstance(value, list) and not value:
        raise InputError("omit this key for a device without its own cores")
    return checked_cores(value if isinstance(value, list) else [value])


def _gpu(value: Any) -> int | str:
    check_gpu(value)
    return value  # type: ignore[no-any-return]


_KEYS = (("host", "node", _node), ("cores", "cores", _cores), ("gpu", "gpu", _gpu))
_EXAMPLES = {"cores": '["0-3", "4-7", ...]', "gpu": "[0, 1, ...]"}


def _refuse_shared(
    key: str, table: Mapping[str, Any], index: int, homes: Sequence[Mapping[str, Any]]
) -> None:
    """Raise TableError if several devices of a computer share one value of cores or gpu."""
    nodes = [home.get("node", "") for home in homes]
    if len(set(nodes)) < len(nodes):
        raise tables.TableError(
            f"{tables.titled(table, 'device')} has {len(nodes):,} devices on one computer, but "
            f"one {key} for all",
            "device", index, key,
            hint=f"Give one value for each device, {key} = {_EXAMPLES[key]}, or write one "
            "[[device]] table for each device.",
        )  # fmt: skip


def _hosts(table: Mapping[str, Any], names: Sequence[str], counts: Mapping[str, int]) -> list[str]:
    """Return the host device of each of these devices."""
    host = table["host"]
    if isinstance(host, list):
        raise InputError(
            f"device {names[0]!r} lists several hosts; `host` must name a single device, or "
            "a single table of devices"
        )
    if not isinstance(host, str):
        raise InputError(f"the host of device {names[0]!r} must be a name, not {host!r:.40}")
    if "host_GB_per_s" not in table:
        raise InputError(f"device {names[0]!r} has a host, but no host_GB_per_s")
    # Names of single devices, such as cpu0, take precedence over those of tables.
    singles = {name: 0 for base, n in counts.items() for name in _single(base, n, host)}
    return hosts_of(list(names), host, {**counts, **singles})


def _single(base: str, count: int, host: str) -> list[str]:
    """Return [`host`] if it names one of the `count` devices of the table `base`, else []."""
    number = host.removeprefix(base)
    fits = count and host.startswith(base) and number.isdecimal() and str(int(number)) == number
    return [host] if fits and int(number) < count else []
