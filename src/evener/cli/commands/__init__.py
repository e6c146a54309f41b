"""One file a command: add_arguments(parser) and run(args, out) -> exit code.

evener.cli.registry lists them. Files beside a command's own are parts of it: measure_options,
measured and tracing of `measure`, models_curves of `models`, speed_sizes of `sizes`.
"""
