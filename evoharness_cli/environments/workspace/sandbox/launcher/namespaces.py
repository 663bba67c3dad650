"""A root of its own: new namespaces in which nothing is there but what the plan names."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from contextlib import suppress

from . import kernel
from .landlock import DEVICES
from .plan import Plan

WORKSPACE = "/workspace"
"""Where the command finds the folder that it may write."""
_CLONE = {
    "mount": 0x20000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
_OLD = "/old"
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""Folders that are links into /usr nowadays, and are links here where they are."""
_SET_INTERFACE_FLAGS, _UP = 0x8914, 1


def leave() -> None:
    """Leave the namespaces of this process; that of processes is left by its children. Raises OSError."""
    user, group = os.getuid(), os.getgid()
    kernel.unshare(sum(flag for name, flag in _CLONE.items() if name != "user" or user != 0))
    if user != 0:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    kernel.set_host_name("sandbox")
    _raise_loopback()


def build_root(plan: Plan) -> None:
    """Make a new root and move to it. Called by the first process of the new namespaces. Raises OSError."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    safe = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("tmpfs", "/tmp", "tmpfs", safe, "size=1m,mode=755")
    os.mkdir("/tmp/old")  # noqa: PTH102
    kernel.system_call("pivot_root", b"/tmp", b"/tmp/old")
    os.chdir("/")
    _folder("/proc")
    # A container may hide parts of its own /proc, and then no other can be had; most programs do without.
    with suppress(PermissionError):
        kernel.mount("proc", "/proc", "proc", safe | kernel.MS_NOEXEC)
    for path in ("/tmp", "/dev/shm"):
        _folder(path)
        kernel.mount("tmpfs", path, "tmpfs", safe, f"size={plan.limits['scratch']},mode=1777")
    for path in plan.readable:
        _show(path)
    for path in DEVICES:
        _bind(path)
    _devices_by_name()
    os.mkdir(plan.environment["HOME"])  # noqa: PTH102
    os.chmod(plan.environment["HOME"], 0o777)  # noqa: PTH101
    _folder(WORKSPACE)
    kernel.mount(_OLD + plan.folder, WORKSPACE, flags=kernel.MS_BIND)
    kernel.set_mount_attributes(WORKSPACE, kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV, below=False)
    kernel.detach(_OLD)
    os.rmdir(_OLD)  # noqa: PTH106
    kernel.set_mount_attributes("/", kernel.MOUNT_ATTR_RDONLY, below=False)
    os.chdir(WORKSPACE)


def _show(path: str) -> None:
    """Let a file or folder be read at its own path; a link of the system's is made again."""
    there = _OLD + path
    if path in _SYSTEM and os.path.islink(there):  # noqa: PTH114
        os.symlink(os.readlink(there), path)  # noqa: PTH115, PTH211
    elif os.path.exists(there):  # noqa: PTH110
        _bind(path)
        attributes = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV
        kernel.set_mount_attributes(path, attributes, below=True)


def _bind(path: str) -> None:
    there = _OLD + path
    if os.path.isdir(there):  # noqa: PTH112
        _folder(path)
    else:
        _folder(os.path.dirname(path))  # noqa: PTH120
        _write(path, "")
    kernel.mount(there, path, flags=kernel.MS_BIND | kernel.MS_REC)


def _devices_by_name() -> None:
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"/dev/{name}")  # noqa: PTH211


def _folder(path: str) -> None:
    os.makedirs(path, exist_ok=True)  # noqa: PTH103


def _write(path: str, text: str) -> None:
    # In bytes, since an encoding might have to be imported, and there is nothing to import from in an empty root.
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(text.encode())


def _raise_loopback() -> None:
    """Switch the new network's own interface on, for programs that talk to themselves."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, struct.pack("16sh14x", b"lo", _UP))
