"""The functions that every kind of plan defines for commands, and their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from evener.cli.graph_options import ReadOptions
from evener.cli.values import refuse_outputs
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output


@dataclass(frozen=True)
class PlanFile:
    """A plan's file, the file that the plan was made from (or None), how to read the latter."""

    plan: str
    source: str | None
    reading: ReadOptions = field(default_factory=ReadOptions)

    def needed_source(self, what: str = "file") -> str:
        """Return the file that the plan was made from. Raises UsageError if it is not given."""
        if self.source is None:
            raise UsageError(
                f"replay needs the {what} that the plan was made from",
                hint="Give that file after the plan.",
            )
        return self.source


@dataclass(frozen=True)
class ExportOptions:
    """Options of `evener export`. to: name of the format; output: a file or a folder, or None."""

    to: str
    output: str | None
    force: bool

    def needed_output(self, file: PlanFile, *, is_folder: bool = False) -> str:
        """Return the output. Raises UsageError if it is not given, or would replace an input."""
        if self.output is None:
            raise UsageError("the following arguments are required: -o/--output")
        if not is_folder:
            refuse_outputs([self.output], [file.plan, file.source, file.reading.coords])
        return self.output


class PlanKind(Protocol):
    """A kind of plan; its modules define these functions.

    Functions with `out` print to it and return the exit code. The two functions that return options
    return None if the command line is of another kind. given: the arguments that differ from their
    defaults, name -> as written.
    """

    def evaluation_options_from(
        self, args: argparse.Namespace, given: Mapping[str, str]
    ) -> Any | None:
        """Return the options of `evaluate` below. Raises UsageError for options of other kinds."""

    def evaluate(self, options: Any, out: Output) -> int:
        """Evaluate a partition from any tool; the exit code does not depend on the contract."""

    def comparison_options_from(
        self, args: argparse.Namespace, given: Mapping[str, str]
    ) -> Any | None:
        """Return the options of `compare` below. Raises UsageError for options of other kinds."""

    def compare(self, options: Any, out: Output) -> int:
        """Run every tool with the same targets and contract; exit 0 even if a tool fails."""

    def replay(self, file: PlanFile, out: Output) -> int:
        """Make the plan again; exit 3 if the input differs, 5 if only the result differs."""

    def export(self, file: PlanFile, options: ExportOptions, out: Output) -> int:
        """Write the plan in the format of another program."""

    def report(self, file: PlanFile, output: str, out: Output) -> int:
        """Write the plan's HTML page; with charts of the graph if the graph is given."""
