"""Built-in stream programs: each module has program(**parameters), whose verify checks a run.

The verifiers use other algorithms than the programs. registry.py lists the programs.
"""
