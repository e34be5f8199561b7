"""Orders that a script gives while the phone runs, which is started once: to start takes it seconds on a virtual
board."""
import asyncio
import os
from collections.abc import AsyncIterator
from typing import BinaryIO


def orders(fifo: str) -> AsyncIterator[str]:
    """The lines that others write into a FIFO. It is made by the call, which thus comes before a phone says that it is
    ready: who writes to a FIFO that is not there yet makes a file, from which nobody reads. It is open for writing
    here too, so that it never ends."""
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    return lines(os.fdopen(os.open(fifo, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0))


async def lines(pipe: BinaryIO) -> AsyncIterator[str]:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    async for line in reader:
        yield line.decode().strip()
