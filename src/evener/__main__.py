"""`python -m evener` is `evener`."""

import sys


def main() -> int:
    """Run the command line; returns the exit code (see evener.errors)."""
    if sys.argv[1:2] not in (["plan"], ["run"]):
        from evener.cli import main as answer

        return answer()
    from evener.running.guarding import begin, leave

    begin()  # before anything else is loaded: from now on a rank that is killed is named
    from evener.cli import main as answer

    return leave(answer())


if __name__ == "__main__":
    sys.exit(main())
