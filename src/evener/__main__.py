"""`python -m evener` runs the command `evener`."""

import sys


def main() -> int:
    """Run the command line; return the exit code (see evener.errors)."""
    try:
        return _main()
    except KeyboardInterrupt:  # while Python loads what will handle it
        guarding = sys.modules.get("evener.running.guarding")
        sys.stderr.write(f"\nevener: {guarding.own_name() if guarding else ''}interrupted\n")
        return 130


def _main() -> int:
    if sys.argv[1:2] not in (["plan"], ["run"]):
        from evener.cli import main as answer

        return answer()
    from evener.running.guarding import begin, leave

    begin()  # before anything else is loaded: from now on a rank that is killed is named
    from evener.cli import main as answer

    return leave(answer())


if __name__ == "__main__":
    sys.exit(main())
