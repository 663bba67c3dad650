"""evoharness: run language-model agents under a Belief, Progress and Experience harness, and make them better at it."""

__version__ = "0.1.0"
