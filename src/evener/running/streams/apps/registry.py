"""The stream programs that are here, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evener.errors import one_of
from evener.running.streams.apps import bitonic, fft, image, jacobi, radio
from evener.running.streams.program import StreamProgram, made_by


@dataclass(frozen=True)
class StreamApp:
    """What a program that is here does, in a few words, and what makes it of its parameters."""

    purpose: str
    make: Callable[..., StreamProgram]


STREAM_APPS = {
    "jacobi": StreamApp("two arrays, one swept by Jacobi's method", jacobi.program),
    "fft": StreamApp("transforms of complex numbers", fft.program),
    "radio": StreamApp("the tone that an FM station sends", radio.program),
    "bitonic": StreamApp("sorted integers", bitonic.program),
    "image": StreamApp("edges of images", image.program),
}


def stream_app(name: str, parameters: Mapping[str, float] | None = None) -> StreamProgram:
    """Return the program of this name. Raises UsageError if there is none.

    parameters: instead of the defaults of its function; InputError for names that it has not.
    """
    app = STREAM_APPS[one_of("stream program", name, STREAM_APPS)]
    return made_by(app.make, name, parameters or {})
