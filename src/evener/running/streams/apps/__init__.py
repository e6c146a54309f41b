"""Stream programs that are here: each module has program(**parameters), whose verify checks a run.

Verifiers are of another design than the programs. registry.py lists them.
"""
