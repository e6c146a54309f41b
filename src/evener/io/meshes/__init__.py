"""Formats of meshes, one per module.

Each module has recognises(source) and read(source); evener.io.formats lists them. rows.py calls the
text parsers; meshlane reads all other formats, in a separate process (meshio.py).
"""
