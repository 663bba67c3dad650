"""Landlock: a process limits itself to a few paths, and to signals and sockets of its own."""

from __future__ import annotations

import ctypes
import os
import stat

from .kernel import system_call
from .plan import Plan

OLDEST = 6
"""The first version in which a process can't signal those outside, so that it can't kill what runs it."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_EVERY_FILE_RIGHT = (1 << 16) - 1
_EVERY_TCP_RIGHT = 0b11
_OF_ITS_OWN = 0b11
"""Abstract sockets, and signals."""
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_MAKE_DEVICES = 1 << 6 | 1 << 11
_WRITE = _EVERY_FILE_RIGHT & ~_MAKE_DEVICES
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15
_PATH_BENEATH = 1
_ASK_VERSION = 1
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class TooOld(Exception):
    """The kernel's Landlock can't do what is asked of it."""


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def restrict(plan: Plan) -> None:
    """Limit this process for good. Needs that it has given up new privileges. Raises OSError and TooOld."""
    version = system_call("landlock_create_ruleset", None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < OLDEST:
        raise TooOld(f"Landlock has version {version} here; expected {OLDEST} or newer, as of Linux 6.12")
    handled = (ctypes.c_uint64 * 3)(_EVERY_FILE_RIGHT, _EVERY_TCP_RIGHT, _OF_ITS_OWN)
    size = ctypes.c_size_t(ctypes.sizeof(handled))
    rules = system_call("landlock_create_ruleset", ctypes.byref(handled), size, 0)
    for path in plan.readable:
        _allow(rules, path, _READ)
    for path in DEVICES:
        _allow(rules, path, _READ_FILE | _WRITE_FILE)
    for path in (plan.folder, plan.scratch):
        _allow(rules, path, _WRITE)
    system_call("landlock_restrict_self", rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return  # What isn't there, or can't be reached by this user, needs no permission.
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= _FOR_FILES
    rule = _Rule(rights, descriptor)
    system_call("landlock_add_rule", rules, _PATH_BENEATH, ctypes.byref(rule), 0)
    os.close(descriptor)
