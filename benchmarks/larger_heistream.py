"""HeiStream on a binary CSR file; run by `larger.py` with the Python that has chszlablib.

    PYTHON benchmarks/larger_heistream.py FILE ROWS_AT ENTRIES_AT N ARCS K BATCH BUFFER PASSES -o X

The graph is in memory, without coordinates or weights; prints CPU seconds of the call, as JSON.
"""

import argparse
import json
import time

import numpy as np
from chszlablib import Decomposition, Graph


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    for name in ("rows_at", "entries_at", "n", "arcs", "k", "batch", "buffer", "passes"):
        parser.add_argument(name, type=int)
    parser.add_argument("-o", "--output")
    args = parser.parse_args()
    xadj = np.fromfile(args.file, np.int64, args.n + 1, offset=args.rows_at)
    adjncy = np.fromfile(args.file, np.int32, args.arcs, offset=args.entries_at).astype(np.int64)
    graph = Graph.from_csr(xadj, adjncy)
    began = time.process_time()
    found = Decomposition.stream_partition(
        graph, k=args.k, imbalance=3.0, max_buffer_size=args.buffer, batch_size=args.batch,
        num_streams_passes=args.passes,
    )  # fmt: skip
    seconds = time.process_time() - began
    np.save(args.output, np.asarray(found.assignment, np.int32))
    print(json.dumps({"cpu_s": round(seconds, 3)}))


if __name__ == "__main__":
    main()
