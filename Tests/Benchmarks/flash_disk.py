"""A disk for each program: ext4 in a file, on a loop device, so that all that reaches it is one program's; and its
power can fail."""

import ctypes
import fcntl
import os
import struct
import subprocess

from ground import BenchError

SIZE = 256 << 20
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS = 0x20000
# EXT4_IOC_SHUTDOWN of the kernel's fs/ext4/ext4.h, and its EXT4_GOING_FLAGS_NOLOGFLUSH: what is in memory stays there.
SHUTDOWN, WITHOUT_JOURNAL = 0x8004587D, 2


def run(*words):
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise BenchError(f"{words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def leave_mounts():
    """What is mounted from now on is unmounted when the last process of this measurement has ended, however it ends."""
    if LIBC.unshare(CLONE_NEWNS):
        raise BenchError(f"mounting needs root: {os.strerror(ctypes.get_errno())}")
    run("mount", "--make-rprivate", "/")


def mount_tracing(folder):
    """The kernel's tracing files, which a distribution may have mounted elsewhere or not at all."""
    folder.mkdir()
    run("mount", "-t", "tracefs", "latchkey-bench", folder)
    return folder


class Disk:
    """Mounted at `folder`, with the options that are ext4's own defaults."""

    def __init__(self, image, folder):
        self.image, self.folder = image, folder
        folder.mkdir(parents=True)
        with image.open("wb") as file:
            file.truncate(SIZE)
        # All that would otherwise be written later, by the kernel, in the middle of a measurement.
        run("mkfs.ext4", "-q", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
        self.mount()

    def mount(self):
        # The loop device goes with the mount.
        run("mount", "-o", "loop", self.image, self.folder)
        number = os.stat(self.folder).st_dev
        self.device = f"{os.major(number)},{os.minor(number)}"

    def sync(self):
        """Writes what the kernel would write by itself within half a minute."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            if LIBC.syncfs(descriptor):
                raise BenchError(f"{self.folder}: {os.strerror(ctypes.get_errno())}")
        finally:
            os.close(descriptor)

    def cut(self):
        """The power fails: nothing more is written, and what was only in memory is lost with `restart`."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", WITHOUT_JOURNAL))
        finally:
            os.close(descriptor)

    def restart(self):
        """As after a start of the machine; no process may have a file open there."""
        run("umount", self.folder)
        self.mount()

    def close(self):
        run("umount", self.folder)
