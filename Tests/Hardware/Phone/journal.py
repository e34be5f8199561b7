"""What happened, as one line of JSON each: who, what, when."""
import json
import sys
import time


class Journal:
    """Notes go to standard output at once, with the milliseconds of the clock that all programs of the board share."""

    def __init__(self, role: str) -> None:
        self.role = role

    def note(self, event: str, **facts: object) -> None:
        line = {"phone": self.role, "event": event, "ms": time.monotonic_ns() // 1_000_000, **facts}
        sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
        sys.stdout.flush()
