#!/usr/bin/python3 -S
"""A phone in the virtual board: Google's Bluetooth stack Bumble, and the proximity login as the reference clients do
it.

  phone.py central    --kind A|I --adapter N --service UUID --characteristic UUID --url URL [--name NAME]
                      [--mode MODE,…]
  phone.py central    --kind A|I --adapter N --service UUID --characteristic UUID --orders FIFO
  phone.py peripheral --kind A|I --adapter N --service UUID --characteristic UUID --decide TEXT | --orders FIFO
  phone.py keyboard   --kind A|I --adapter N --service UUID --characteristic UUID --orders FIFO

Kind A does as the Android client, kind I as the iOS client. What happens is printed as lines of JSON. A central ends
with 0 when the value `0` came, 1 when another came, 3 when the connection ended without one, 4 when its time ran out.

Orders are lines. For a central: the options of an exchange, or stop. For a peripheral: go TEXT, hang-up, or stop. For a
keyboard: eager, patient or late with an address, type, or stop.
"""
import argparse
import asyncio
import gc
import logging
import os
import signal
import sys

# Under emulation, every collection during the imports costs a noticeable time.
gc.disable()

from journal import Journal


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("role", choices=("central", "peripheral", "keyboard"))
    parser.add_argument("--kind", choices=("A", "I"), required=True)
    parser.add_argument("--adapter", type=int, default=1, help="number of the controller, which must be down")
    parser.add_argument("--service", required=True)
    parser.add_argument("--characteristic", required=True)
    parser.add_argument("--orders", metavar="FIFO", help="is made, and read until it says stop")
    parser.add_argument("--verbose", action="store_true", help="Bumble's own log, on standard error")
    exchange = parser.add_argument_group("exchange of a central")
    exchange.add_argument("--url", default="", help="what to have authorized")
    exchange.add_argument("--name", help="of the device; the request has none without it")
    exchange.add_argument(
        "--mode", default="whole", help="one exchange after the other, each on its own connection: whole, "
        "silence, idleness, flood, endless, invalid-text, invalid-document, replay, noise; or leave:STEP, where a "
        "step is seen, connected, paired, discovered, begun, unfinished, written or answered")
    exchange.add_argument("--bond", action="store_true", help="pair first of all")
    exchange.add_argument("--no-subscription", action="store_true", help="leave the descriptor alone")
    exchange.add_argument(
        "--settled", action="store_true", help="leave early only once what was written has been read: "
        "bluetoothd 5.66 aborts if a write comes from a device that has gone")
    exchange.add_argument("--patience", type=float, default=120, help="seconds for an exchange")
    exchange.add_argument("--least-rssi", type=int, default=-127, help="dBm")
    exchange.add_argument("--count", type=int, default=100, help="requests of a flood, packets of noise")
    exchange.add_argument("--seed", type=int, default=1, help="of the noise")
    peripheral = parser.add_argument_group("peripheral")
    peripheral.add_argument("--decide", metavar="TEXT", help="answer every request with it at once")
    return parser


async def run(options: argparse.Namespace, journal: Journal) -> int:
    from radio import radio

    if task := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with radio(options.adapter, "phone") as device:
        if options.role == "peripheral":
            from peripheral import serve
            await serve(device, journal, options)
            return 0
        if options.role == "keyboard":
            from keyboard import serve as intrude
            await intrude(device, journal, options.orders)
            return 0
        from exchanges import exchanges
        return await exchanges(device, journal, options, parser())


def main() -> int:
    options = parser().parse_args()
    logging.basicConfig(level=logging.DEBUG if options.verbose else logging.ERROR)
    try:
        return asyncio.run(run(options, Journal(options.role)))
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    # What the interpreter would tidy up costs more than all the rest.
    os._exit(status)
