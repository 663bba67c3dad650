"""A filter of system calls: what no build or test needs, and what Landlock alone leaves open."""

from __future__ import annotations

import ctypes
import errno
import platform

from .kernel import PR_SET_SECCOMP, UnknownMachine, prctl

_REFUSED = {
    "x86_64": (272, 308, 321, 298, 323, 425, 248, 249, 250),
    "aarch64": (97, 268, 280, 241, 282, 425, 217, 218, 219),
}
"""unshare, setns, bpf, perf_event_open, userfaultfd, io_uring_setup, add_key, request_key, keyctl."""

_REFUSED_ALONE = {
    "x86_64": (41, 29, 64, 68, 240),
    "aarch64": (198, 194, 190, 186, 180),
}
"""socket, shmget, semget, msgget, mq_open: those of the desktop and of Docker are open to all of a user's processes."""

_IGNORED_ALONE = {
    "x86_64": (90, 92, 94, 132, 235, 260, 261, 268, 280, 188, 189, 197, 198, 452, 463, 466, 469),
    "aarch64": (53, 54, 88, 5, 6, 14, 15, 452, 463, 466, 469),
}
"""chmod, chown, utime, setxattr and their kin by path, which would reach the person's own files.

They report success and do nothing, since programs that copy files give up where these fail.
"""

_CLONE, _CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
"""Numbers from here on are calls of another kind that x86-64 knows besides."""
_NEW_USER_NAMESPACE = 0x10000000

_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_REFUSE = _ERRNO | errno.EPERM
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
"""Where in what the filter is shown these stand (the lower half of an argument comes first)."""
_MODE_FILTER = 2

_Code = list[tuple[int, int, int, int]]
"""Instructions: what to do, how many to skip where that is so and where it is not, and the operand."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


def filter_calls(alone: bool) -> None:
    """Filter the calls of this process for good; `alone` where no namespaces keep it apart from others.

    Needs that it has given up new privileges. Raises OSError and UnknownMachine.
    """
    machine = platform.machine()
    if machine not in _ARCHITECTURE:
        raise UnknownMachine(f"the numbers of the system calls of {machine} are not known here")
    code: _Code = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, _ARCHITECTURE[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        # The arguments of clone3 can't be looked at; without it, programs take clone.
        *_answered((_CLONE3,), _ERRNO | errno.ENOSYS),
        *_answered(_REFUSED[machine], _REFUSE),
    ]
    if alone:
        code += [*_answered(_REFUSED_ALONE[machine], _REFUSE), *_answered(_IGNORED_ALONE[machine], _ERRNO)]
        # The limits of another process: the first argument is its id, 0 for oneself.
        code += _refused_if(_PRLIMIT[machine], (_EQUAL, 1, 0, 0))
    code += _refused_if(_CLONE[machine], (_HAS_BITS, 0, 1, _NEW_USER_NAMESPACE))
    code += [(_RETURN, 0, 0, _ALLOW)]
    instructions = (_Instruction * len(code))(*(_Instruction(*each) for each in code))
    prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(_Program(len(code), instructions)))


def _answered(numbers: tuple[int, ...], answer: int) -> _Code:
    return [each for number in numbers for each in ((_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer))]


def _refused_if(number: int, test: tuple[int, int, int, int]) -> _Code:
    """Refuse a call whose first argument passes a test, which skips one instruction where it doesn't."""
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        test,
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
    ]
