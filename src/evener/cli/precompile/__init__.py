"""Compiles all kernels ahead, for `evener warm`, and reports when one is being compiled.

precompile.py  read first: divides the rehearsals among processes, and is such a process
rehearsals.py  calls that reach every kernel, with files and meshes for them
compiler.py    which kernels there are, which one is being compiled, where machine code is kept
"""
