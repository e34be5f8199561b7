"""What arrives at the far broker, and from which program."""

import threading
import time

from flash_programs import origin


class Arrivals:
    """What the far broker was given, by program."""

    def __init__(self, onlooker):
        self.onlooker, self.read, self.found, self.lock = onlooker, 0, {}, threading.Lock()

    def of(self, program):
        with self.lock:
            fresh = self.onlooker.seen[self.read:]
            self.read += len(fresh)
            for message in fresh:
                if known := origin(message):
                    self.found.setdefault(known[0], set()).add(known[1])
            return set(self.found.get(program.name, ()))

    def await_quiet(self, programs, seconds):
        """Until nothing more comes of what these were given."""
        count = None
        while count != (now := sum(len(self.of(program)) for program in programs)):
            count = now
            time.sleep(seconds)
