"""Regular files and standard input are read, up to a limit; nothing else is, and nothing waits."""

import io
import os
import socket
import subprocess
import sys

import pytest

from evener.errors import InputError, UsageError
from evener.files import opening
from evener.files.opening import limit, named, open_input, read_bytes, unpacked_limit


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return put


def test_a_file_and_what_is_appended(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"abc" * 1000)
    assert read_bytes(file) == b"abc" * 1000
    assert read_bytes("/proc/self/cmdline")  # of which the system says it is empty


@pytest.mark.parametrize("read", [read_bytes, open_input])
def test_what_is_no_file_is_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
        for path, kind in [
            (tmp_path / "pipe", "a pipe"), (tmp_path / "socket", "a socket"),
            (tmp_path, "a folder"), ("/dev/zero", "a device"), ("/dev/null", "a device"),
        ]:  # fmt: skip
            with pytest.raises(InputError, match=f"is {kind}, not a file") as caught:
                read(path)
            assert caught.value.file == str(path)
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none")
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(InputError, match="cannot be read"):
            read(name)


@pytest.mark.parametrize(
    ("text", "size"),
    [("7", 7), ("500000000", 500_000_000), ("10KiB", 10240), (" 3 MiB ", 3 << 20),
     ("2GiB", 2 << 30), ("1TiB", 1 << 40), ("2GB", 2 * 10**9)],
)  # fmt: skip
def test_the_limit_is_what_the_environment_says(monkeypatch, text, size):
    assert limit(123) == 123
    monkeypatch.setenv("EVENER_MAX_INPUT", text)
    assert limit(123) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "many", "2GiBs"])
def test_a_limit_that_is_none(monkeypatch, text):
    monkeypatch.setenv("EVENER_MAX_INPUT", text)
    with pytest.raises(UsageError, match="EVENER_MAX_INPUT must be a number of bytes"):
        limit()


def test_beyond_the_limit(tmp_path, monkeypatch):
    file = tmp_path / "a"
    file.write_bytes(bytes(2000))
    with pytest.raises(
        InputError, match="contains 2,000 bytes, more than the 1,999 bytes"
    ) as caught:
        read_bytes(file, 1999)
    assert "set EVENER_MAX_INPUT in the environment, such as to 3998" in caught.value.hint
    monkeypatch.setenv("EVENER_MAX_INPUT", "2KiB")
    assert len(read_bytes(file, 1999)) == 2000
    monkeypatch.setenv("EVENER_MAX_INPUT", "1KiB")
    with pytest.raises(InputError, match="more than the 1 KiB allowed"):
        open_input(file)


def test_a_huge_file_takes_no_memory(tmp_path):
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(2**42)
    with pytest.raises(InputError, match="more than the 16 GiB allowed"):
        read_bytes(tmp_path / "holes")


def test_a_file_that_grows_while_it_is_read(tmp_path, monkeypatch):
    file = tmp_path / "a"
    file.write_bytes(b"x" * 100)
    monkeypatch.setattr(opening, "_PIECE", 10)
    with open_input(file) as opened:
        assert opening._read(opened, 20, file, 100) == b"x" * 100
        opened.seek(0)
        with pytest.raises(InputError, match="is longer than the 99 bytes"):
            opening._read(opened, 20, file, 99)


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0"])
def test_standard_input_is_read_once_and_kept(piped, name):
    piped(b"3 2\n")
    assert read_bytes(name) == b"3 2\n"
    assert read_bytes("-") == b"3 2\n"
    assert str(named(name)) == "<stdin>"
    piped(b"other")
    assert read_bytes(name) == b"other"


def test_standard_input_without_end(piped, monkeypatch):
    monkeypatch.setenv("EVENER_MAX_INPUT", "1KiB")
    piped(bytes(2000))
    with pytest.raises(InputError, match="<stdin>: is longer than the 1 KiB allowed"):
        read_bytes("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="<stdin>: is closed"):
        read_bytes("-")


def test_standard_input_that_is_a_device():
    code = "from evener.files.opening import read_bytes; read_bytes('-')"
    with open("/dev/zero", "rb") as zeros:  # noqa: PTH123
        said = subprocess.run(
            [sys.executable, "-c", code],
            stdin=zeros,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert "<stdin>: is a device; a file or a pipe is needed" in said.stderr


@pytest.mark.parametrize("text", ["0.5", "x", "-3", "nan", "inf", ""])
def test_a_ratio_that_is_none(monkeypatch, text):
    monkeypatch.setenv("EVENER_MAX_RATIO", text)
    with pytest.raises(UsageError, match="EVENER_MAX_RATIO must be a number >= 1, not"):
        unpacked_limit(1)


def test_how_far_what_is_packed_may_grow(monkeypatch):
    assert unpacked_limit(1000) == 32 << 20
    assert unpacked_limit(2**20) == 200 << 20
    assert unpacked_limit(2**40) == 16 << 30
    monkeypatch.setenv("EVENER_MAX_RATIO", "1000")
    assert unpacked_limit(2**20) == 1000 << 20
    monkeypatch.setenv("EVENER_MAX_INPUT", "64MiB")
    assert unpacked_limit(2**20) == 64 << 20
