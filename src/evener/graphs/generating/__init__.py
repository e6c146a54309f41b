"""Makes meshes, graphs and machines: seeded, one file a family (see families.py)."""
