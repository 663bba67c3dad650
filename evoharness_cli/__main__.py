"""`python -m evoharness_cli` is `evoharness`."""

from .cli import main

main()
