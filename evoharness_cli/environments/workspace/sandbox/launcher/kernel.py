"""The system calls that Python has no function for."""

from __future__ import annotations

import ctypes
import os
import platform

_LIBC = ctypes.CDLL(None, use_errno=True)

_NUMBERS = {
    "x86_64": {"pivot_root": 155, "capset": 126},
    "aarch64": {"pivot_root": 41, "capset": 91},
}
_EVERYWHERE = {
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
"""System calls that have the same number on every architecture."""

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4

_CAPABILITIES_VERSION = 0x20080522
_LAST_CAPABILITY = 63


class UnknownMachine(Exception):
    """The numbers of the system calls are not known for this architecture."""


def system_call(name: str, *arguments: object) -> int:
    """Make a system call. Raises OSError, or UnknownMachine."""
    number = _EVERYWHERE.get(name) or _NUMBERS.get(platform.machine(), {}).get(name)
    if number is None:
        raise UnknownMachine(f"the system call {name} has no known number on {platform.machine()}")
    return _checked(int(_LIBC.syscall(ctypes.c_long(number), *arguments)), name)


def prctl(option: int, *arguments: object) -> None:
    """Set something of this process. Raises OSError."""
    padded = [argument if argument is not None else 0 for argument in (*arguments, None, None, None, None)][:4]
    wide = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in padded]
    _checked(_LIBC.prctl(ctypes.c_int(option), *wide), "prctl")


def unshare(flags: int) -> None:
    """Leave the namespaces that the flags name. Raises OSError."""
    _checked(_LIBC.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a path. Raises OSError."""
    done = _LIBC.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )
    _checked(done, f"mount {target}")


def detach(target: str) -> None:
    """Take a mount away, with those below it. Raises OSError."""
    _checked(_LIBC.umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def set_mount_attributes(target: str, attributes: int, below: bool) -> None:
    """Give a mount attributes such as read-only, and those below it too where asked. Raises OSError."""
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    flags = _AT_RECURSIVE if below else 0
    system_call(
        "mount_setattr",
        _AT_FDCWD,
        os.fsencode(target),
        flags,
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )


def set_host_name(name: str) -> None:
    """Name this machine, within its namespace. Raises OSError."""
    _checked(_LIBC.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")


def bound_capabilities() -> None:
    """See to it that no program gives this process a capability that it lacks; for those that may do so."""
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return  # The kernel has no more of them, or this process may not: then it can't be given any either.


def drop_capabilities() -> None:
    """Give up every capability. Raises OSError."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    system_call("capset", ctypes.byref(header), ctypes.byref(none))


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
