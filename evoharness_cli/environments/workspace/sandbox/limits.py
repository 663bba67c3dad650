"""What one command may use up."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """What one command, with all that it starts, may use up."""

    seconds: int = 60
    """By the clock, and of the processor's time in each process."""
    memory: int = 1024 * MIB
    """Bytes, in each process and in all of them together."""
    processes: int = 128
    file: int = 256 * MIB
    """Bytes in one file that it writes."""
    disk: int = 1024 * MIB
    """Bytes that it may add to the folder."""
    scratch: int = 256 * MIB
    """Bytes in its own `/tmp`."""
    output: int = 8 * MIB
    """Bytes that it may print; it is ended when it prints more."""
