#!/usr/bin/python3 -S
"""Phones that are started by orders.

  phones.py FIFO

Each line that somebody writes into the FIFO, which is made, is one command line of phone.py or crowd.py, without
/usr/bin/python3. On a virtual board it takes ten seconds to load Bumble. That is done once here, and each phone is a
fork of this process.
"""
import gc
import os
import shlex
import signal
import sys
import traceback

gc.disable()

import crowd
import exchanges  # noqa: F401  loaded for phone.py, which does so when it knows its role
import keyboard  # noqa: F401
import peripheral  # noqa: F401
import phone

PROGRAMS = {"phone.py": phone.main, "crowd.py": crowd.main}


def become(arguments: list[str]) -> None:
    """Never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.argv = arguments
    status = 1
    try:
        status = PROGRAMS[os.path.basename(arguments[0])]() or 0
    except Exception:
        # The interpreter, which would say so, does not come to its end.
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def main() -> None:
    # Whoever has ended is forgotten.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    fifo = sys.argv[1]
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    # Opened for writing too, so that it never ends.
    with os.fdopen(os.open(fifo, os.O_RDWR), "r", buffering=1) as orders:
        while line := orders.readline():
            if os.fork() == 0:
                become(shlex.split(line))


if __name__ == "__main__":
    main()
