"""The built-in stream programs, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evener.errors import one_of
from evener.running.streams.apps import bitonic, fft, image, jacobi, radio
from evener.running.streams.program import StreamProgram, made_by


@dataclass(frozen=True)
class StreamApp:
    """A built-in stream program: what it does, in a few words, and the function that makes it."""

    purpose: str
    make: Callable[..., StreamProgram]


STREAM_APPS = {
    "jacobi": StreamApp("two arrays, one swept by Jacobi's method", jacobi.program),
    "fft": StreamApp("transforms of complex numbers", fft.program),
    "radio": StreamApp("sound of an FM station that sends a tone", radio.program),
    "bitonic": StreamApp("sorted integers", bitonic.program),
    "image": StreamApp("edges of images", image.program),
}


def stream_app(name: str, parameters: Mapping[str, float] | None = None) -> StreamProgram:
    """Return the program of this name. Raises UsageError if there is none.

    parameters: replace defaults of the function that makes the program. Raises InputError for names
    that this function does not have.
    """
    app = STREAM_APPS[one_of("stream program", name, STREAM_APPS)]
    return made_by(app.make, name, parameters or {})
