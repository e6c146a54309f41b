"""Compiles all kernels ahead, and tells of compilation: `warm` in warm.py, `watch` in compiler.py."""
