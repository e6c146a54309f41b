"""Functions of a vertex program that the schedules call: placeholders with their arguments.

A schedule (dense_kernels.py and the like) is a template. `generating` writes a copy of it for each
program, in which the import of this module is replaced by functions of the same names and arguments
that call the program's own functions, and by the constants of its traits. So templates can be read
and checked like any other module; they are not compiled in this form.

value: of a vertex. payload: what a vertex sends, the same to all neighbours. message: what arrives
along one arc. vertex: global number. degree: number of arcs leaving it. n: number of vertices of
the whole graph. parameters: tuple of the program's parameters.
"""

# mypy: ignore-errors
import numpy as np

IDENTITY = np.float64(0)  # combined with a message gives the message
IS_WEIGHTED = False  # whether `along` takes the weight of an arc
NO_PRIORITY = np.int64(-(2**60) - 1)  # bucket_of, where priority() is no number of a bucket
HAS_HALT = False  # dense: whether the change is summed
HAS_SETTLED = False  # frontier: whether is_settled is worth a call
TAKES_FIRST = False  # frontier: whether any one message will do
HAS_BUCKETS = False  # on CUDA devices: whether the frontier schedule takes vertices by buckets
GOES_BOTH_WAYS = False  # whether arcs count in both directions


def kernel(function):
    """Compile a function that Python calls: once per thread, without the GIL."""
    return function


def helper(function):
    """Compile a function that kernels call."""
    return function


as_value = np.float64  # converts to the type of values


def initial(vertex, degree, n, parameters):  # noqa: ARG001
    """Return the first value of a vertex."""
    return IDENTITY


def payload_of(value, degree, vertex, n, parameters):  # noqa: ARG001
    """Return what a vertex sends along all its arcs."""
    return value


def message_of(payload, weight, parameters):  # noqa: ARG001
    """Return what arrives along one arc."""
    return payload


def joined(one, other):
    """Return two messages combined."""
    return one + other


def join_at(array, place, value):
    """Combine an entry with a message atomically; only on CUDA devices."""


def applied(old, combined, degree, vertex, n, step, parameters):  # noqa: ARG001
    """Return the new value of a vertex; step: number of supersteps before this one."""
    return combined


def halts(change, step, n, parameters):  # noqa: ARG001
    """Return whether to stop after a superstep; change: sum of the values' absolute changes."""
    return False


def is_settled(value, parameters):  # noqa: ARG001
    """Return whether no message can change this value any more."""
    return False


def changes(old, new):
    """Return whether two values differ; NaN never changes, so that a run with NaN ends."""
    return new != old


def bucket_of(value, parameters):  # noqa: ARG001
    """Return the bucket in which a vertex with this value is processed; lower ones come first."""
    return 0
