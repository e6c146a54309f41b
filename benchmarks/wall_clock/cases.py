"""The cases of measured.py: which ranks or devices, and the goals of the plan."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class WallClockCase:
    """A program of this folder on so many ranks.

    asked: the goals of planned / equal and planned / metis.
    """

    part: str
    program: str
    ranks: int
    job: dict
    asked: dict
    rivals: int = 0


@dataclass(frozen=True)
class EmulatedDevice:
    """An emulated device: speed relative to others; with a cliff, at shares of the matrix."""

    speed: float
    cliff: float = 0.0  # the share of the matrix beyond which it is slower
    slow: float = 0.0  # its speed there
    width: float = 0.04  # the share over which speed falls

    def described(self):
        if not self.cliff:
            return {"speed": self.speed}
        return {"share": [self.cliff, self.cliff + self.width], "speed": [self.speed, self.slow]}


@dataclass(frozen=True)
class EmulatedCluster:
    """Devices, their link [s, s/B], and the seconds of the matrix on all of them together."""

    devices: list = field(default_factory=list)
    link: tuple = (0.0, 0.0)
    seconds: float = 15e-3
    comm_share: float | None = None

    def job(self):
        own = {"vertices": 2**16, "link": self.link, "seconds": self.seconds, "steps": 10}
        own["devices"] = [device.described() for device in self.devices]
        return own | ({"comm_share": self.comm_share} if self.comm_share else {})


def real_time(repeats, rivals, equal):
    """Two ranks on two cores; blocks balanced take 25 ms and more."""
    busy = rivals > 0
    job = {
        "vertices": 2**17,
        "repeats": repeats,
        "seconds": 40e-3 if busy else 25e-3,
        "window": 0.5 if busy else 0.25,
        "partitions": ["equal", "metis", "planned", "again"],
        "sample": False,
    }
    asked = {"equal": equal, "metis": "null"} if equal else {}
    return WallClockCase("a", "two_ranks", 2, job, asked, rivals)


def emulated(part, machine, metis):
    return WallClockCase(part, "emulated", len(machine.devices), machine.job(), {"metis": metis})


PAIR_LINK = (5e-4, 1e-9)  # what two real processes asleep between looks keep up with
ONE, FAST, FASTER = EmulatedDevice(1.0), EmulatedDevice(2.0, 0.42, 0.3), EmulatedDevice(4.0)
MEMORY = EmulatedCluster([ONE, FAST], PAIR_LINK, 20e-3)
CACHE = EmulatedCluster([FASTER, *[EmulatedDevice(2.5, 0.21, 1.0)] * 3], PAIR_LINK, 20e-3)
EIGHT = [FASTER, FASTER, *[ONE] * 6]
# What a message waits for is as long as the fastest device takes for the whole matrix, nearly.
LATENCY = EmulatedCluster(EIGHT, (10e-3, 0.0), 4e-3)
EIGHT_LINK = (25e-6, 0.8e-9)  # 10 Gbit/s Ethernet, slowed until exchange has its share


def eight(comm_share):
    return EmulatedCluster(EIGHT, EIGHT_LINK, 15e-3, comm_share)


CASES = {
    "kernel x 4": real_time([1, 4], 0, 0.55),
    "kernel x 16": real_time([1, 16], 0, None),
    "1 rival": real_time([1, 1], 1, 0.75),
    "3 rivals": real_time([1, 1], 3, 0.55),
    "memory cliff": emulated("b", MEMORY, 0.90),
    "cache cliff": emulated("b", CACHE, 0.90),
    "latency 10 ms": emulated("c", LATENCY, 0.3),
    "eight devices, exchange 0.35": emulated("d", eight(0.35), 0.96),
    "eight devices, exchange 0.7": emulated("d", eight(0.7), 0.65),
}
