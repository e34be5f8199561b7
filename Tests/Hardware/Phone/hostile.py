"""Phones that mean no good, or are broken: what each does with a connection to the board."""
import json
import logging
import random
from collections.abc import Awaitable, Callable

from bumble.att import ATT_CID
from bumble.core import UUID

from central import Central, exchange
from request import END, pieces

#: Writes on their way before the next waits for the controller: as fast as it takes them.
BURST = 16

#: Bytes of a write that everybody takes: an attribute has 512 at most, and bluetoothd counts its handle among them.
LARGEST = 510


async def silence(central: Central) -> bytes | None:
    """Connects and says nothing, until the board hangs up."""
    await central.connect()
    await central.gone.wait()
    return None


async def idleness(central: Central) -> bytes | None:
    """Subscribes and says nothing more, until the board hangs up."""
    await central.connect()
    await central.discover()
    await central.subscribe(1)
    await central.gone.wait()
    return None


async def flood(central: Central) -> bytes | None:
    """Writes requests without end and without waiting for an answer. The last answer counts."""
    await central.connect()
    await central.discover()
    await central.subscribe(1)
    message = [*pieces(central.message()), END]
    written = 0
    try:
        for _ in range(central.options.count):
            for piece in message:
                await central.write(piece, completed=False)
            await central.drain()
            written += 1
    finally:
        central.journal.note("written", requests=written)
    value = await central.answer()
    while not central.values.empty() and not central.gone.is_set():
        value = await central.answer()
    await central.hang_up()
    return value


async def endless(central: Central) -> bytes | None:
    """Never comes to an end: a mebibyte of a request that began well, in the largest pieces the board takes."""
    await central.connect()
    await central.discover()
    await central.subscribe(1)
    mtu = await central.client.request_mtu(517)
    head = b'{"provider_url":"' + central.options.url.encode()
    written = 0
    try:
        for number, piece in enumerate(pieces(head.ljust(1 << 20, b"x"), min(mtu - 3, LARGEST))):
            await central.write(piece, completed=number % BURST == 0)
            written += len(piece)
            if not central.values.empty():
                break
    finally:
        central.journal.note("written", bytes=written, mtu=mtu)
    value = await central.answer()
    await central.hang_up()
    return value


async def send_text(central: Central, text: bytes) -> bytes | None:
    await central.connect()
    await central.discover()
    await central.send(text)
    value = await central.answer()
    await central.hang_up()
    return value


async def invalid_text(central: Central) -> bytes | None:
    """A request with a name that is not UTF-8."""
    url = json.dumps(central.options.url).encode()
    return await send_text(central, b'{"provider_url":' + url + b',"device_name":"\xc3\x28\xff\xfe"}')


async def invalid_document(central: Central) -> bytes | None:
    """A request that is cut off."""
    return await send_text(central, central.message()[:-1])


async def replay(central: Central) -> bytes | None:
    """The same request a second time, once it was answered."""
    await central.connect()
    await central.discover()
    await central.send(central.message())
    if await central.answer() is None:
        return None
    for piece in [*pieces(central.message()), END]:
        await central.write(piece)
    central.journal.note("written")
    value = await central.answer()
    await central.hang_up()
    return value


async def noise(central: Central) -> bytes | None:
    """Random bytes on the channel of the attribute protocol, then the question whether anyone is there still."""
    await central.connect()
    dice = random.Random(central.options.seed)
    # Bumble logs all that it did not ask for.
    logging.disable()
    try:
        for number in range(central.options.count):
            central.link.send_l2cap_pdu(ATT_CID, dice.randbytes(dice.randrange(24)))
            if number % BURST == 0:
                await central.drain()
        await central.drain()
        central.journal.note("written", packets=central.options.count)
        # Errors that answer the noise arrive first, and each of them passes for the answer to one question.
        for _ in range(central.options.count):
            if await central.client.discover_service(UUID(central.options.service)):
                central.journal.note("alive")
                break
    finally:
        logging.disable(logging.NOTSET)
    await central.hang_up()
    return None


#: What `--mode` names, but for leaving at a step.
MODES: dict[str, Callable[[Central], Awaitable[bytes | None]]] = {
    "whole": exchange,
    "silence": silence,
    "idleness": idleness,
    "flood": flood,
    "endless": endless,
    "invalid-text": invalid_text,
    "invalid-document": invalid_document,
    "replay": replay,
    "noise": noise,
}
