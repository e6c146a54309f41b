"""What the machine looks like to a planner: devices with sampled speeds, and a link."""

import numpy as np

from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Level, Link, Platform
from wall_clock.timing import now

VALUE_BYTES = 8
MESSAGES = (8, 1024, 8192, 32768, 131072)  # bytes each way
ROUNDS = 60


def platform(speeds, link):
    """Devices of constant speeds [units/s]."""
    devices = tuple(Device(f"d{b}", float(speed)) for b, speed in enumerate(speeds))
    return Platform(devices, levels=(Level("all", Link(*link)),))


def curved_platform(samples, link):
    """Devices with speed curves through samples: a list of (load [units], seconds) each."""
    devices = []
    for b, own in enumerate(samples):
        points = tuple(Sample(load, seconds) for load, seconds in sorted(own))
        curve = DeviceSpeeds(f"d{b}", points)
        devices.append(Device(f"d{b}", points[len(points) // 2].speed, curve=curve))
    return Platform(tuple(devices), levels=(Level("all", Link(*link)),))


def measured_link(comm, rest=0.0):
    """Alpha [s] and beta [s/B] of the program's own exchange between the first two ranks.

    Beta counts what is sent and what is received.
    """
    found = [_exchange_seconds(comm, n_bytes, rest) for n_bytes in MESSAGES]
    sizes = 2.0 * np.array(MESSAGES)  # both ways
    # Relative errors count: short messages as much as long ones.
    beta, alpha = np.polyfit(sizes, found, 1, w=1 / np.array(found))
    return comm.bcast((max(float(alpha), 0.0), max(float(beta), 0.0)))


def _exchange_seconds(comm, n_bytes, rest):
    values = np.ones(n_bytes // VALUE_BYTES)
    other = 1 - comm.rank
    buffers = [{other: values.copy()} if comm.rank < 2 else {} for _ in range(2)]
    swap, own, picked = comm.swap(*buffers), [], np.arange(values.size)
    for _ in range(ROUNDS):
        comm.barrier()
        begin = now()
        for buffer in buffers[0].values():
            np.take(values, picked, out=buffer)
        swap.start()
        swap.finish(rest)
        own.append(now() - begin)
    return max(comm.allgather(float(np.median(own)))[:2])
