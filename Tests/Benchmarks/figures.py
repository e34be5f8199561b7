"""Reading the kernel's counters, and putting figures into tables."""

import contextlib
import json
import os
import platform
import re
import select
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path


def cpu_seconds(process):
    """User and system time of all threads of a process, the ended ones included (clock_getcpuclockid(3))."""
    return time.clock_gettime_ns(~process << 3 | 2) / 1e9


@dataclass
class Ended:
    """What a program used from its start to its end."""

    status: int
    wall: float
    cpu: float


def run(words, stdin=None, timeout=300, **more):
    """Runs a program to its end."""
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in words], stdin=stdin if stdin is not None else subprocess.DEVNULL,
                               **more)
    deadline = start + timeout
    pidfd = os.pidfd_open(process.pid)
    try:
        if not select.select([pidfd], [], [], max(0, deadline - time.monotonic()))[0]:
            process.kill()
    finally:
        os.close(pidfd)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(process.returncode, time.monotonic() - start, usage.ru_utime + usage.ru_stime)


def fields(path):
    """The lines `Name: number` of a file of /proc."""
    found = {}
    for line in Path(path).read_text().splitlines():
        match = re.match(r"([^:]+):\s+(\d+)", line)
        if match:
            found[match[1]] = int(match[2])
    return found


def wakeups(process):
    """How often each thread of a process gave up the processor by itself: a wake-up follows each."""
    counts = {}
    for task in Path(f"/proc/{process}/task").iterdir():
        # A thread may have ended.
        with contextlib.suppress(FileNotFoundError):
            counts[task.name] = fields(task / "status")["voluntary_ctxt_switches"]
    return counts


def woken(before, after):
    """A thread that has ended meanwhile was idle; one that has begun counts from zero."""
    return sum(count - before.get(task, 0) for task, count in after.items())


def memory(process):
    """Kilobytes of a process, and its threads."""
    rollup, status = fields(f"/proc/{process}/smaps_rollup"), fields(f"/proc/{process}/status")
    return {
        "rss": status["VmRSS"], "anonymous": rollup["Anonymous"], "pss": rollup["Pss"], "threads": status["Threads"]
    }


def median(values):
    return statistics.median(values)


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def spread(values, digits=2):
    """`median (least to greatest)`."""
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


@dataclass
class Table:
    title: str
    header: list
    rows: list
    notes: list = field(default_factory=list)

    def text(self):
        rows = [[str(cell) for cell in row] for row in [self.header, *self.rows]]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.header))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        notes = ["", *self.notes] if self.notes else []
        return "\n".join([self.title, "", *("  " + line for line in lines), *notes]) + "\n"

    def markdown(self):
        rows = [self.header, ["---"] * len(self.header), *self.rows]
        lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        return "\n".join([f"### {self.title}", "", *lines, *(f"\n{note}" for note in self.notes)]) + "\n"


def verdict(value, limit, unit, digits=2, least=False):
    """A figure with its unit, and what it is to keep to."""
    met = value >= limit if least else value <= limit
    bound, outcome = "least" if least else "most", "met" if met else "**missed**"
    return f"{value:.{digits}f} {unit} (aim: at {bound} {limit:g}, {outcome})"


def version(words, pattern=r"\d+\.\d+[\w.+-]*"):
    try:
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=20)
    except OSError:
        return "missing"
    found = re.search(pattern, done.stdout + done.stderr)
    return found[0] if found else "unknown"


def package(name):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], check=False, capture_output=True, text=True)
    return done.stdout or "missing"


def machine(folder):
    """What the figures hold for."""
    processor = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                      if line.startswith("model name")), platform.machine())
    system = json.loads(
        subprocess.run(["findmnt", "-J", "-T", folder], check=False, capture_output=True, text=True).stdout or "{}")
    disk = system.get("filesystems", [{}])[0].get("fstype", "unknown")
    return {
        "processor": processor, "cores": os.cpu_count(), "memory MiB": fields("/proc/meminfo")["MemTotal"] // 1024,
        "kernel": platform.release(), "file system": disk, "load before": os.getloadavg()[0],
    }
