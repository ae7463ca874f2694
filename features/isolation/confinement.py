"""What a child process does before it reads untrusted bytes: take its limits, and give up what it doesn't need.

On Linux, a filter of system calls (seccomp) is left with reading and writing what is open, memory, clocks and threads.
So code that takes the process over opens no file and no connection, starts no program, and reads, signals or limits no
other process. It needs no rights and can't be taken off: https://docs.kernel.org/userspace-api/seccomp_filter.html
Modules that are imported later are not found: import first.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import resource
import signal
import struct
import sys
from contextlib import suppress

_CALLS = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "close": (3, 57), "fstat": (5, 80),
    "lseek": (8, 62), "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214),
    "mremap": (25, 216), "madvise": (28, 233), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139), "sigaltstack": (131, 132), "exit": (60, 93), "exit_group": (231, 94),
    "futex": (202, 98), "getrandom": (318, 278), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "gettimeofday": (96, 169), "getpid": (39, 172), "gettid": (186, 178), "getrusage": (98, 165),
    "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "getcpu": (309, 168), "set_robust_list": (273, 99),
    "rseq": (334, 293), "membarrier": (324, 283), "restart_syscall": (219, 128),
}  # fmt: skip
"""The system calls that remain, with their numbers on x86-64 and on ARM64."""

_CLONE, _CLONE3, _PRLIMIT = (56, 220), (435, 435), (302, 261)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The place of a machine's numbers, and the kernel's name for it."""

_CLONE_THREAD = 0x10000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUALS, _HAS, _RETURN = 0x20, 0x15, 0x45, 0x06
"""The filter's instructions: load a word, compare it, look for a bit in it, decide."""

_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
"""Where the words of a call are."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def confine() -> bool:
    """Take the limits that ``children.answers`` gives as arguments, and give up the rest.

    Returns whether system calls are filtered: they aren't on other systems than Linux, nor on other machines.
    """
    processor, total, memory = map(int, sys.argv[1:4])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which kills this process
    resource.setrlimit(resource.RLIMIT_CPU, (processor, total))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it writes no file
    with suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    return _filter_calls()


def go_on() -> None:
    """Take the seconds of processor time again, after a part of the work."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    seconds = int(used.ru_utime + used.ru_stime) + int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, most), most))


def _filter_calls() -> bool:
    place, name = _MACHINES.get(platform.machine(), (0, 0))
    if sys.platform != "linux" or not name:
        return False
    instructions = b"".join(struct.pack("=HBBI", *each) for each in _program(place, name))
    program = _Program(len(instructions) // 8, instructions)
    system = ctypes.CDLL(None)
    system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return bool(system.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def _program(place: int, machine: int) -> list[tuple[int, int, int, int]]:
    """The filter: instructions with how many to skip if they are true, and if not, and a value."""
    refuse = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    start = [(_LOAD, 0, 0, _MACHINE), (_EQUALS, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    allowed = [each for call in _CALLS.values() for each in ((_EQUALS, 0, 1, call[place]), (_RETURN, 0, 0, _ALLOW))]
    # The C library starts a thread by clone, if clone3, whose flags a filter can't see, isn't there.
    thread = [(_EQUALS, 0, 1, _CLONE3[place]), (_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    thread += [(_EQUALS, 0, 3, _CLONE[place]), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_HAS, 0, 5, _CLONE_THREAD)]
    own_limits = [(_EQUALS, 0, 3, _PRLIMIT[place]), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUALS, 0, 1, 0)]
    return [*start, *allowed, *thread, (_RETURN, 0, 0, _ALLOW), *own_limits, (_RETURN, 0, 0, _ALLOW), refuse]
