"""What Ctrl-C does: the first press ends what goes on, which is then tidied up; the third ends the process at once."""

from __future__ import annotations

import os
import signal
from types import FrameType

CODE = 130
"""The exit code of what was interrupted."""
_presses = 0


def count_presses() -> None:
    """Take over Ctrl-C for the rest of the process, unless it was started with Ctrl-C ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _pressed)


def _pressed(number: int, frame: FrameType | None) -> None:
    global _presses
    del number, frame
    _presses += 1
    if _presses == 1:
        raise KeyboardInterrupt
    if _presses > 2:
        os._exit(CODE)
    # What ends writes down where it was: a second press that cuts this short would leave it unfinished.
    os.write(2, b"ending; press Ctrl-C once more to end at once\n")
