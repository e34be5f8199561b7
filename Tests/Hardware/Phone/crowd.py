#!/usr/bin/python3 -S
"""Two phones at once, and the adapter of the board that they both connect to.

  crowd.py --orders FIFO --service UUID --characteristic UUID

All three are controllers that Bumble emulates, on an air of their own that loses nothing: btvirt's give the second
connection the handle of the first. The kernel gets one of them through /dev/vhci as an adapter, ADDRESS. The other two
belong to phones, first and second. What happens is printed as lines of JSON; those of "air" tell when the adapter
begins to advertise, and when it ends.

Orders are lines: first OPTION…, second OPTION… (those of phone.py for an exchange); both URL URL, which has both
connected before either writes; unplug and plug the adapter; stop.
"""
import argparse
import asyncio
import gc
import logging
import os
import shlex
import sys
from contextlib import AsyncExitStack

gc.disable()

from bumble import hci, ll
from bumble.controller import Controller
from bumble.core import PhysicalTransport
from bumble.device import Device
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink, Transport
from bumble.transport.vhci import open_vhci_transport

from central import Central
from exchanges import attempt, conclude
from journal import Journal
from orders import orders
from phone import parser
from radio import phone

ADDRESS = "00:AA:01:7F:00:01"

#: Milliseconds between two advertisements, whatever the kernel asks for: a test does not want to wait for the next.
PAUSE = 250


class Air(LocalLink):
    """Bumble's own has data come from the sender's random address, by which who connected to the public one misses
    it."""

    def send_acl_data(self, sender_controller: Controller, destination_address: hci.Address,
                      transport: PhysicalTransport, data: bytes) -> None:
        receiver = self.find_le_controller(destination_address)
        connection = sender_controller.le_connections.get(destination_address)
        if receiver and connection:
            asyncio.get_running_loop().call_soon(receiver.on_link_acl_data, connection.self_address, transport, data)


class Caller(Controller):
    """The controller of a phone. Bumble's own never forgets a connection that was given up."""

    def on_hci_le_create_connection_cancel_command(
            self, command: hci.HCI_LE_Create_Connection_Cancel_Command) -> hci.HCI_StatusReturnParameters:
        wanted, self.pending_le_connection = self.pending_le_connection, None
        if wanted is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        self.send_hci_packet(hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
            peer_address_type=wanted.peer_address.address_type, peer_address=wanted.peer_address, connection_interval=0,
            peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0))
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)


class Adapter(Controller):
    """The adapter of the board, which advertises in the way that every adapter can."""

    le_features = Controller.le_features & ~(
        hci.LeFeatureMask.LE_EXTENDED_ADVERTISING | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING)
    journal: Journal

    def on_hci_le_set_advertising_parameters_command(
            self, command: hci.HCI_LE_Set_Advertising_Parameters_Command) -> hci.HCI_StatusReturnParameters:
        parameters = super().on_hci_le_set_advertising_parameters_command(command)
        self.le_legacy_advertiser.advertising_interval_min = PAUSE
        return parameters

    def on_hci_le_set_advertising_enable_command(
            self, command: hci.HCI_LE_Set_Advertising_Enable_Command) -> hci.HCI_StatusReturnParameters:
        before = self.le_legacy_advertiser.enabled
        parameters = super().on_hci_le_set_advertising_enable_command(command)
        self.note(before)
        return parameters

    def on_le_connect_ind(self, packet: ll.ConnectInd) -> None:
        before = self.le_legacy_advertiser.enabled
        super().on_le_connect_ind(packet)
        self.note(before)

    def note(self, before: bool) -> None:
        if self.le_legacy_advertiser.enabled != before:
            self.journal.note("quiet" if before else "advertising")


class Socket:
    """Where the adapter is plugged in, or not."""

    def __init__(self, air: Air, journal: Journal) -> None:
        self.air = air
        self.journal = journal
        self.plugged: tuple[Adapter, Transport] | None = None

    async def plug(self) -> None:
        transport = await open_vhci_transport(None)
        adapter = Adapter("adapter", transport.source, transport.sink, self.air, ADDRESS)
        adapter.journal = self.journal
        self.plugged = adapter, transport
        self.journal.note("plugged")

    async def unplug(self) -> None:
        """Those who were connected notice, as their controllers would by the silence."""
        if self.plugged is None:
            return
        (adapter, transport), self.plugged = self.plugged, None
        adapter.le_legacy_advertiser.stop()
        for connection in adapter.le_connections.values():
            connection.send_ll_control_pdu(ll.TerminateInd(hci.HCI_CONNECTION_TIMEOUT_ERROR))
        self.air.remove_controller(adapter)
        await transport.close()
        self.journal.note("unplugged")


class Crowd:
    def __init__(self, socket: Socket, devices: dict[str, Device], options: argparse.Namespace) -> None:
        self.socket = socket
        self.devices = devices
        self.options = options

    def exchange(self, who: str, *arguments: str) -> argparse.Namespace:
        return parser().parse_args([
            "central", "--kind", "I", "--service", self.options.service, "--characteristic",
            self.options.characteristic, "--patience",
            str(self.options.patience), "--name", who, *arguments
        ])

    async def both(self, *urls: str) -> None:
        """The second looks for the board when the first is connected, and neither writes before the other can."""
        first_is_there, both_are_there = asyncio.Event(), asyncio.Barrier(2)

        async def act(central: Central, is_first: bool) -> bytes | None:
            if not is_first:
                await first_is_there.wait()
            await central.connect()
            await central.discover()
            first_is_there.set()
            await both_are_there.wait()
            await central.send(central.message())
            value = await central.answer()
            await central.part()
            return value

        async with asyncio.TaskGroup() as group:
            for (who, device), url in zip(self.devices.items(), urls):
                central = Central(device, Journal(who), self.exchange(who, "--url", url), "")
                group.create_task(conclude(central, lambda central, who=who: act(central, who == "first"), "both"))

    async def obey(self) -> None:
        given = orders(self.options.orders)
        self.socket.journal.note("ready", address=ADDRESS)
        async for order in given:
            match shlex.split(order):
                case ["stop"]:
                    return
                case ["plug"]:
                    await self.socket.plug()
                case ["unplug"]:
                    await self.socket.unplug()
                case ["both", *urls]:
                    await self.both(*urls)
                case [who, *arguments] if who in self.devices:
                    options = self.exchange(who, *arguments)
                    for mode in options.mode.split(","):
                        await attempt(self.devices[who], Journal(who), options, mode)
                case _:
                    self.socket.journal.note("not-understood", order=order)


async def run(options: argparse.Namespace) -> None:
    air = Air()
    socket = Socket(air, Journal("air"))
    await socket.plug()
    async with AsyncExitStack() as stack:
        devices = {}
        for name in "first", "second":
            controller = Caller(name, link=air)
            devices[name] = await stack.enter_async_context(phone(controller, AsyncPipeSink(controller), name))
        await Crowd(socket, devices, options).obey()
    await socket.unplug()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in "--orders", "--service", "--characteristic":
        options.add_argument(name, required=True)
    options.add_argument("--patience", type=float, default=60, help="seconds for an exchange")
    options.add_argument("--verbose", action="store_true", help="Bumble's own log, on standard error")
    chosen = options.parse_args()
    logging.basicConfig(level=logging.DEBUG if chosen.verbose else logging.ERROR)
    asyncio.run(run(chosen))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # What the interpreter would tidy up costs more than all the rest.
    os._exit(0)
