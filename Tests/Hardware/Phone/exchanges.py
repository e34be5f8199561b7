"""One exchange of a central after the other, as ordered, and how each of them ended."""
import asyncio
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable

from bumble.att import ATT_Error
from bumble.core import BaseBumbleError
from bumble.device import Device

from central import Central, Gone, Vanished, exchange
from hostile import MODES
from journal import Journal
from orders import orders


async def exchanges(device: Device, journal: Journal, options: Namespace, parser: ArgumentParser) -> int:
    """Exit status of the last."""
    status = 0
    given = orders(options.orders) if options.orders else None
    journal.note("ready")
    if not given:
        for mode in options.mode.split(","):
            status = await attempt(device, journal, options, mode)
        return status
    async for order in given:
        if order == "stop":
            break
        try:
            ordered = parser.parse_args([*sys.argv[1:], *shlex.split(order)])
        except (SystemExit, ValueError):
            journal.note("not-understood", order=order)
            continue
        for mode in ordered.mode.split(","):
            status = await attempt(device, journal, ordered, mode)
    return status


async def attempt(device: Device, journal: Journal, options: Namespace, mode: str) -> int:
    """One exchange of a mode."""
    act = exchange if mode.startswith("leave:") else MODES[mode]
    return await conclude(Central(device, journal, options, mode.removeprefix("leave:")), act, mode)


async def conclude(central: Central, act: Callable[[Central], Awaitable[bytes | None]], mode: str) -> int:
    """One exchange: 0 when the value `0` came, 1 when another did, 3 when none did, 4 when time ran out."""
    journal = central.journal
    status = 3
    try:
        async with asyncio.timeout(central.options.patience):
            value = await act(central)
        if value is not None:
            status = 0 if value == b"0" else 1
    except TimeoutError:
        status = 4
    except (ATT_Error, BaseBumbleError) as error:
        journal.note("failed", error=str(error))
    except asyncio.CancelledError:
        # Bumble does this to who waits for a response when the connection ends.
        if not central.gone.is_set():
            raise
    except (Gone, Vanished):
        pass
    await central.hang_up()
    journal.note("ended", mode=mode, status=status)
    return status
