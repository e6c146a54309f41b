"""Kernels that only other kernels call, compiled so that tests can call them too."""

from evener.arrays_kernels import sort_along
from evener.io.number_kernels import read_integer, read_real, read_weight
from evener.jit import njit
from evener.partitioning.refinement.maxflow_kernels import extreme_cuts, send_all, tie


def _called(kernel):
    @njit(cache=True)
    def call(*arguments):
        return kernel(*arguments)

    return call


read_integer, read_real, read_weight = map(_called, (read_integer, read_real, read_weight))
extreme_cuts, send_all, tie = map(_called, (extreme_cuts, send_all, tie))
sort_along = _called(sort_along)
