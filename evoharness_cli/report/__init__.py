"""A report: one HTML file that shows an evaluation, a training run, a run or a store, and every episode step by step.

It needs nothing but a browser: no server, no network, no other file.
"""

from .page import write_report
from .subject import Subject, opened

__all__ = ["Subject", "opened", "write_report"]
