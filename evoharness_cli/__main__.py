"""The command `evoharness`, also as `python -m evoharness_cli`."""

from __future__ import annotations

import sys

from .interrupts import CODE, count_presses


def main() -> None:
    """Run the command line; Ctrl-C ends it with a sentence, also while its parts are imported."""
    try:
        count_presses()
        from .cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(CODE)


if __name__ == "__main__":
    main()
