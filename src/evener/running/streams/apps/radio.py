"""FM radio: demodulates a station among noise and another station, and equalises it in bands.

Like StreamIt's example of the same name: low pass, demodulator, and an equaliser of parallel band
passes whose results are added. An antenna filter computes the received signal.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.running.streams.program import Outputs, StreamChannel, StreamFilter, StreamProgram

RATE, STEP = 250e3, 5  # samples a second of the antenna; antenna's samples of one of sound
DEVIATION = 75e3  # [Hz] of broadcasts
NEIGHBOUR, LOUD = 115e3, 0.3  # [Hz] from the station, and its amplitude beside the station's
NOISE = 5e-3  # amplitude beside the station's
CHANNEL, SOUND = 95e3, 15e3  # [Hz] passed before and after the demodulator
TAPS, BAND_TAPS = 64, 128
EDGES = (0.0, 2e3, 4e3, 8e3, 15e3)  # [Hz] of the equaliser's bands
GAINS = (1.0, 0.5, 2.0, 0.25)
SEED = 17
LEAST_RATIO = 30.0  # [dB] of the tone to everything else
NEAR = 0.03  # of the tone's amplitude: ripple of the filters
Array = npt.NDArray[Any]


def program(tone: float = 1000.0, block: int = 4096) -> StreamProgram:
    """Return the program: a station sends a tone [Hz]; each iteration yields `block` sound samples.

    Its output is the sound (block,). Raises InputError for tones outside 50 Hz to 14 kHz, and for
    short blocks.
    """
    if not 50 <= tone <= 14e3 or block < BAND_TAPS:
        raise InputError(
            "a tone must lie between 50 and 14,000 Hz, and a block must have at least "
            f"{BAND_TAPS} samples"
        )
    bands = [f"band {low / 1e3:g} to {high / 1e3:g} kHz" for low, high in _bands()]
    equalising = [
        _fir(name, gain * _band_pass(*band), np.float64)
        for name, band, gain in zip(bands, _bands(), GAINS, strict=True)
    ]
    filters = (
        StreamFilter("antenna", lambda iteration: antenna(iteration, tone, block), vector=block),
        _fir("channel", _low_pass(CHANNEL, RATE, TAPS), np.complex128),
        StreamFilter("demodulate", _demodulate, np.ones(1, np.complex128)),
        _fir("sound", _low_pass(SOUND, RATE, TAPS), np.float64, STEP),
        *equalising,
        StreamFilter("add", lambda *own: np.sum(own, axis=0), vector=block),
    )
    wide = block * STEP
    channels = (
        StreamChannel("antenna", "channel", (wide,), "complex128"),
        StreamChannel("channel", "demodulate", (wide,), "complex128"),
        StreamChannel("demodulate", "sound", (wide,)),
        *(StreamChannel("sound", name, (block,)) for name in bands),
        *(StreamChannel(name, "add", (block,)) for name in bands),
    )
    return StreamProgram(filters, channels, "radio", lambda outputs: verify(outputs, tone))


def antenna(iteration: int, tone: float, block: int) -> Array:
    """Return the signal received in an iteration (block x STEP,) complex128.

    The station is at 0 Hz. The phase of a station that sends sin(2 pi tone t) is the integral of
    this, times 2 pi DEVIATION.
    """
    count = block * STEP
    t = (np.arange(count) + iteration * count) / RATE
    station = np.exp(-1j * DEVIATION / tone * np.cos(2 * np.pi * tone * t))
    rng = np.random.default_rng([SEED, iteration])
    noise = rng.standard_normal((count, 2)).view(np.complex128)[:, 0]
    return np.asarray(station + LOUD * np.exp(2j * np.pi * NEIGHBOUR * t) + NOISE * noise)


def _fir(name: str, taps: FloatArray, dtype: npt.DTypeLike, step: int = 1) -> StreamFilter:
    """Return a filter that convolves with taps, and keeps every step-th sample."""
    return StreamFilter(name, partial(_convolved, taps, step), np.zeros(taps.size - 1, dtype))


def _convolved(taps: FloatArray, step: int, before: Array, x: Array) -> Array:
    whole = np.concatenate([before, x])
    before[:] = whole[x.size :]
    return np.convolve(whole, taps, "valid")[::step]


def _demodulate(before: Array, x: Array) -> FloatArray:
    """Return the frequency of each sample, from the change of phase since the previous one."""
    turned = x * np.concatenate([before, x[:-1]]).conj()
    before[0] = x[-1]
    return np.asarray(np.angle(turned) * (RATE / (2 * np.pi * DEVIATION)))


def _low_pass(high: float, rate: float, taps: int) -> FloatArray:
    """Return a windowed sinc (taps,) that passes frequencies below `high` [Hz]."""
    i = np.arange(taps) - (taps - 1) / 2
    found = np.sinc(2 * high / rate * i) * np.hamming(taps)
    return np.asarray(found / found.sum())


def _band_pass(low: float, high: float) -> FloatArray:
    upper = _low_pass(high, RATE / STEP, BAND_TAPS)
    return upper - _low_pass(low, RATE / STEP, BAND_TAPS) if low > 0 else upper


def _bands() -> list[tuple[float, float]]:
    return list(pairwise(EDGES))


def verify(outputs: Outputs, tone: float) -> bool:
    """Return whether the sound is the tone, as loud as the equaliser makes it, and little else.

    A sine is fitted to all samples except the first few, for which filters lack earlier input. Its
    amplitude must match the filters' response, up to NEAR; the rest must be weaker by LEAST_RATIO.
    """
    sound = np.concatenate(list(outputs["add"]))[2 * BAND_TAPS :]
    turn = 2 * np.pi * tone * STEP / RATE
    waves = np.stack([f(turn * np.arange(sound.size)) for f in (np.sin, np.cos)], axis=1)
    parts, *_ = np.linalg.lstsq(waves, sound, rcond=None)
    amplitude, rest = float(np.hypot(*parts)), sound - waves @ parts
    bands = [gain * _band_pass(*band) for band, gain in zip(_bands(), GAINS, strict=True)]
    expected = _response(np.sum(bands, axis=0), turn) * _response(
        _low_pass(SOUND, RATE, TAPS), turn / STEP
    )
    ratio = 10 * np.log10(amplitude**2 / 2 / np.mean(rest**2))
    return bool(abs(amplitude - expected) <= NEAR * expected and ratio >= LEAST_RATIO)


def _response(taps: FloatArray, turn: float) -> float:
    """Return the amplitude of a sine of amplitude 1 after a filter. turn: radians per sample."""
    return float(abs(np.sum(taps * np.exp(-1j * turn * np.arange(taps.size)))))
