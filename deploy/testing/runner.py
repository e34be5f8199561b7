"""Runs lanes beside each other, shows how far they are, and keeps all that they print."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from lanes import PROJECT
from results import Events, Failure, Result

# What a lane that has to end may still do.
GRACE = 10


class Progress:
    """One line on a terminal; elsewhere a line for each lane that begins or ends."""

    def __init__(self, stream=sys.stdout):
        self.stream, self.is_terminal = stream, stream.isatty()
        self.begun, self.lock = time.monotonic(), threading.Lock()
        self.failed = 0

    def clock(self):
        seconds = int(time.monotonic() - self.begun)
        return f"{seconds // 60:3}:{seconds % 60:02}"

    def show(self, lane, test):
        if not self.is_terminal:
            return
        with self.lock:
            columns = os.get_terminal_size(self.stream.fileno()).columns
            line = f"{self.clock()}  {self.failed} failed  {lane}: {test}"
            self.stream.write(f"\r\033[K{line[:max(columns - 1, 0)]}")
            self.stream.flush()

    def say(self, text):
        with self.lock:
            if self.is_terminal:
                self.stream.write("\r\033[K")
            print(f"{self.clock()}  {text}", file=self.stream, flush=True)

    def ended(self, result):
        self.failed += len(result.failures)
        counts = f"{result.passed} passed, " if result.passed else ""
        self.say(f"{result.name}: {counts}{len(result.failures)} failed ({result.seconds:.0f} s)")
        for failure in result.failures:
            self.say(str(failure).split("\n")[0])

    def clear(self):
        if self.is_terminal:
            self.stream.write("\r\033[K")


class Runner:
    """Keeps output in a folder: a file for each lane, named like it."""

    def __init__(self, folder, progress, environment, tests=None):
        self.folder, self.progress, self.environment, self.tests = Path(folder), progress, environment, tests
        self.folder.mkdir(parents=True, exist_ok=True)
        self.results, self.failed_essential = [], False

    def run(self, phase):
        """Runs the lanes of a phase, as many at a time as it says. Those that are left are not run after one that is
        essential has failed."""
        waiting, lock = list(phase.lanes), threading.Lock()

        def work():
            while True:
                with lock:
                    if not waiting or self.failed_essential:
                        return
                    lane = waiting.pop(0)
                result = self.run_lane(lane)
                with lock:
                    self.results.append(result)
                    self.failed_essential |= lane.essential and bool(result.failures)
                    self.progress.ended(result)

        workers = [threading.Thread(target=work) for _ in range(phase.workers)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return not self.failed_essential

    def command(self, lane, events):
        if not lane.tests:
            return list(lane.command)
        # Not `swift test`, of which only one runs at a time.
        skip = ["--skip", lane.skip] if lane.skip else []
        return [str(self.tests), "--testing-library", "swift-testing", "--experimental-maximum-parallelization-width",
                str(lane.width), "--filter", lane.tests, *skip, "--event-stream-output-path", str(events),
                "--event-stream-version", "0"]

    def run_lane(self, lane):
        name = re.sub(r"[^A-Za-z0-9]+", "-", lane.name).strip("-")
        log, path = self.folder / f"{name}.log", self.folder / f"{name}.events"
        path.unlink(missing_ok=True)
        events = Events(path, lane.name)
        begun = time.monotonic()
        with open(log, "wb") as output:
            output.write(f"# {lane.name}\n".encode())
            output.flush()
            # A group of its own, so that all of it can be ended.
            process = subprocess.Popen(self.command(lane, path), cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, env=self.environment, process_group=0)
            status, work, is_late = self.wait(process, lane, events, begun + lane.minutes * 60)
        seconds = time.monotonic() - begun
        events.read()
        result = Result(lane.name, seconds, work, events.passed, events.skipped, list(events.failures.values()))
        if trouble := self.trouble(lane, status, is_late, events):
            said = [trouble, *log.read_text(errors="replace").splitlines()[-15:], f"all of it: {log}"]
            result.failures.append(Failure(lane.name, "", ["\n".join(said)]))
        return result

    def trouble(self, lane, status, is_late, events):
        """What is wrong with a lane apart from its tests."""
        if is_late:
            running = "; ".join(map(events.title, events.running)) or "none of its tests"
            return f"{lane.name} did not end within {lane.minutes:g} minutes; running then: {running}"
        if status < 0 or lane.tests and not events.ended:
            running = "; ".join(map(events.title, events.running)) or "none of its tests"
            return f"{lane.name} ended with {status}; running then: {running}"
        if lane.tests and not events.passed + events.skipped + len(events.failures):
            return f"{lane.name} has no test that matches {lane.tests}"
        if status and not events.failures:
            return f"{lane.name} ended with {status}"
        return None

    def wait(self, process, lane, events, deadline):
        """Waits for the end of a lane, which is ended at its limit.

        Returns its status, the time of processors that it took, and whether it was too late."""
        is_late = False
        self.progress.show(lane.name, "")
        while True:
            number, status, usage = os.wait4(process.pid, os.WNOHANG)
            if number:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage.ru_utime + usage.ru_stime, is_late
            if begun := events.read():
                self.progress.show(lane.name, begun)
            if time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL if is_late else signal.SIGTERM)
                is_late, deadline = True, deadline + GRACE
            time.sleep(0.2)


class Load:
    """Two busy loops, while it is entered."""

    def __enter__(self):
        self.loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()
