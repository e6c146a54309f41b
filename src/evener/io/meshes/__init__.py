"""Formats of meshes, one a file.

Each has recognises(source) and read(source); evener.io.formats lists them. rows.py drives the
parsers of text; what is not here is read by meshlane in a process of its own (meshio.py).
"""
