"""The commands, one file each: add_arguments(parser) and run(args, out) -> exit code.

evener.cli.registry lists them. `run` turns the arguments into frozen dataclasses
(evener.cli.options) and calls other packages with these. Some commands have further files:
measure_options.py and measured.py (printing) for `measure`, sizes_by_curves.py for `sizes`. Read
plan.py first.
"""
