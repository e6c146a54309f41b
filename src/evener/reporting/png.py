"""PNG images of few colours, as data: URIs; transparent where nothing is."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt


def data_uri(image: npt.NDArray[np.uint8], colours: npt.NDArray[np.uint8]) -> str:
    """Return `image` (h, w), numbers of `colours` (c <= 256, 4) RGBA, as a data: URI."""
    return "data:image/png;base64," + base64.b64encode(encode(image, colours)).decode()


def encode(image: npt.NDArray[np.uint8], colours: npt.NDArray[np.uint8]) -> bytes:
    """Return the bytes of an indexed PNG file [PNG]_."""
    height, width = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    rows = np.zeros((height, width + 1), np.uint8)  # a zero before each row: no filter
    rows[:, 1:] = image
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", np.ascontiguousarray(colours[:, :3]).tobytes()),
            _chunk(b"tRNS", np.ascontiguousarray(colours[:, 3]).tobytes()),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
