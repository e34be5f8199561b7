"""What reaches block devices, and what is synced, as the kernel's own tracepoints report it: no program is asked."""

import os
import re
from dataclasses import dataclass, field

PAGE = 4096
SECTOR = 512
EVENTS = ("block/block_rq_issue", "ext4/ext4_sync_file_enter", "ext4/ext4_sync_fs")
# `comm-PID [cpu] flags seconds: event: rest`; a comm may contain anything.
LINE = re.compile(r"-\d+\s+\[\d+\]\s+\S+\s+[\d.]+: (\w+): (.*)$")
REQUEST = re.compile(r"(\d+,\d+) (\w+) (\d+) \(.*?\) (\d+) \+ (\d+) ")
DEVICE = re.compile(r"dev (\d+,\d+)")
LOST = re.compile(r"LOST (\d+) EVENTS")


class EventsLost(Exception):
    """The kernel had no room for some events, so that the figures would be too small."""


@dataclass
class Written:
    """What one device was given."""

    bytes: int = 0
    # Of these, the file system's own: its journal, inodes and maps.
    own: int = 0
    syncs: int = 0
    # The device was told to make its cache permanent.
    flushes: int = 0
    pages: set = field(default_factory=set)

    def write(self, sector, length, is_own):
        self.bytes += length
        self.own += length if is_own else 0
        first, end = sector * SECTOR, sector * SECTOR + length
        self.pages.update(range(first // PAGE, (end + PAGE - 1) // PAGE))

    def add_left(self, later):
        """What was left in memory, and has been written for a sync that is not the program's."""
        self.bytes += later.bytes
        self.own += later.own
        self.pages |= later.pages

    def figures(self):
        return {
            "bytes": self.bytes, "own": self.own, "syncs": self.syncs, "flushes": self.flushes, "pages": len(self.pages)
        }


def read(lines, devices):
    """What each device (`major,minor`) was given. Raises EventsLost."""
    found = {device: Written() for device in devices}
    for line in lines:
        if lost := LOST.search(line):
            raise EventsLost(f"the kernel lost {lost[1]} events")
        match = LINE.search(line)
        if not match:
            continue
        event, rest = match[1], match[2]
        if event == "block_rq_issue":
            request = REQUEST.match(rest)
            if request and request[1] in found:
                count(found[request[1]], request[2], int(request[4]), int(request[3]))
        elif (device := DEVICE.match(rest)) and device[1] in found:
            found[device[1]].syncs += 1
    return found


def count(written, kind, sector, length):
    """A request's kind is letters: F, W, D or R for what is done, before it F to flush first, after it M for
    metadata."""
    if kind.startswith("FF"):
        written.flushes += 1
    elif kind.removeprefix("F").startswith("W"):
        written.write(sector, length, "M" in kind)


class Trace:
    """A buffer of the kernel's of its own, for some devices; other users of tracing do not notice."""

    def __init__(self, tracing, name, devices):
        self.devices = devices
        self.folder = tracing / "instances" / name
        self.folder.mkdir()
        try:
            self.set("buffer_size_kb", "16384")
            numbers = [(int(major) << 20) + int(minor) for major, minor in (device.split(",") for device in devices)]
            wanted = " || ".join(f"dev == {number}" for number in numbers)
            for event in EVENTS:
                self.set(f"events/{event}/filter", wanted)
                self.set(f"events/{event}/enable", "1")
        except BaseException:
            self.close()
            raise

    def set(self, name, value):
        (self.folder / name).write_text(value)

    def take(self):
        """What came since the last time. Raises EventsLost."""
        pieces = []
        pipe = os.open(self.folder / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            while piece := os.read(pipe, 1 << 16):
                pieces.append(piece)
        except BlockingIOError:
            pass    # that was all
        finally:
            os.close(pipe)
        return read(b"".join(pieces).decode(errors="replace").splitlines(), self.devices)

    def close(self):
        self.folder.rmdir()
