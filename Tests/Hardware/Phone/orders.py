"""Orders that a script gives while the phone runs, which is started once: to start takes it seconds on a virtual
board."""
import asyncio
import os
from collections.abc import AsyncIterator


async def orders(fifo: str) -> AsyncIterator[str]:
    """The lines that others write into a FIFO, which is made. It is open for writing here too, so that it never
    ends."""
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.open(fifo, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    async for line in reader:
        yield line.decode().strip()
