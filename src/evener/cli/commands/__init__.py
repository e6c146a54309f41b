"""A file for each command: add_arguments(parser) and run(args, out) -> exit code.

evener.cli.registry lists them. `run` turns the arguments into frozen dataclasses
(evener.cli.options) and calls other packages with these. Parts of a command are in files of their
own: measure_options.py and measured.py (printing) of `measure`, sizes_by_curves.py of `sizes`.
Read plan.py first.
"""
