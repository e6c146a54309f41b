"""A process of its own for `larger_seconds.py`: plans a file within a bound, tells its memory.

Reads a pickle of (path, platform, options, bound [B]) and prints a line of JSON. It imports no more
than the command `evener plan` does.
"""

import json
import pickle
import sys
from pathlib import Path

from evener.machine_code.clock import cpu_seconds
from evener.planning.plan_file import FileRequest, plan_file


def main():
    path, platform, options, bound = pickle.load(sys.stdin.buffer)
    began = cpu_seconds()
    plan = plan_file(FileRequest(path, bound), platform, options)
    status = Path("/proc/self/status").read_text()
    found, last = plan.prediction, plan.prediction.bottleneck
    print(json.dumps({
        "seconds": found.makespan,
        "share": round(float(found.communicate[last] / found.seconds[last]), 4),
        "cpu_s": round(cpu_seconds() - began, 2),
        "peak_MB": round(int(status.split("VmHWM:")[1].split()[0]) / 1024),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
