"""A phone that wants to log in: the central of the exchange (MAG 8.2 to 8.4)."""
import asyncio
from argparse import Namespace
from functools import partial

from bumble.att import ATT_Error
from bumble.core import UUID, AdvertisingData, BaseBumbleError, ProtocolError
from bumble.device import Advertisement, Connection, Device
from bumble.gatt import GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR as CONFIGURATION
from bumble.gatt import Characteristic
from bumble.gatt_client import CharacteristicProxy, Client
from bumble.hci import HCI_REMOTE_USER_TERMINATED_CONNECTION_ERROR as HUNG_UP
from bumble.pairing import PairingConfig

from journal import Journal
from request import END, pieces, request

#: Seconds for a connection, which takes milliseconds where it comes about.
CONNECTING = 3


class Vanished(Exception):
    """The phone left at the step at which it was to leave."""


class Gone(Exception):
    """The connection ended."""


async def bond(connection: Connection, journal: Journal) -> bool:
    """Pairs with the board, with nothing to show or to compare, and says whether that came about."""
    connection.device.pairing_config_factory = lambda _: PairingConfig(mitm=False)
    try:
        await connection.pair()
    except ProtocolError as error:
        journal.note("unbonded", error=str(error))
        return False
    journal.note("bonded")
    return True


class Central:
    """One connection to the board, from the search for it to the end."""

    client: Client
    characteristic: CharacteristicProxy[bytes]

    def __init__(self, device: Device, journal: Journal, options: Namespace, leave_at: str) -> None:
        self.device = device
        self.journal = journal
        self.options = options
        self.leave_at = leave_at
        self.connection: Connection | None = None
        self.has_written = False
        self.gone = asyncio.Event()
        self.values: asyncio.Queue[bytes | None] = asyncio.Queue()

    @property
    def link(self) -> Connection:
        if self.connection is None or self.gone.is_set():
            raise Gone
        return self.connection

    async def reached(self, step: str, **facts: object) -> None:
        """Notes a step, and leaves if it is the one."""
        self.journal.note(step, **facts)
        if step == self.leave_at:
            if self.options.settled and self.has_written:
                # What is asked next is answered when all before it has been read.
                await self.client.discover_service(UUID(self.options.service))
            await self.hang_up()
            raise Vanished

    # --- the steps ------------------------------------------------------------------

    async def find(self) -> Advertisement:
        """The first advertisement of the service that is strong enough."""
        found: asyncio.Future[Advertisement] = asyncio.get_running_loop().create_future()
        service = UUID(self.options.service)

        def look(advertisement: Advertisement) -> None:
            data = advertisement.data
            services = [uuid for kind in (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                                          AdvertisingData.INCOMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS)
                        for uuids in data.get_all(kind) for uuid in uuids]
            if service in services and advertisement.rssi >= self.options.least_rssi and not found.done():
                found.set_result(advertisement)

        self.device.on("advertisement", look)
        await self.device.start_scanning(filter_duplicates=False)
        try:
            return await found
        finally:
            self.device.remove_listener("advertisement", look)
            await self.device.stop_scanning()

    async def connect(self) -> None:
        while self.connection is None:
            seen = await self.find()
            data = seen.data
            name = data.get(AdvertisingData.COMPLETE_LOCAL_NAME) or data.get(AdvertisingData.SHORTENED_LOCAL_NAME)
            await self.reached("seen", address=seen.address.to_string(False), rssi=seen.rssi, name=name,
                               connectable=seen.is_connectable)
            try:
                self.connection = await self.device.connect(seen.address, timeout=CONNECTING)
            except BaseBumbleError:
                # A simulated controller forgets the wish when nobody advertises just then.
                self.journal.note("unconnected")
        self.connection.on("disconnection", self.ended)
        self.client = self.connection.gatt_client
        await self.reached("connected")
        if self.options.bond:
            await bond(self.connection, self.journal)
            await self.reached("paired")

    def ended(self, reason: int) -> None:
        self.journal.note("disconnected", reason=reason)
        self.gone.set()
        self.values.put_nowait(None)

    async def discover(self) -> None:
        """An Android phone looks at everything the board offers, an iPhone asks for a larger MTU and then for what it
        wants."""
        service, wanted = UUID(self.options.service), UUID(self.options.characteristic)
        if self.options.kind == "A":
            await self.client.discover_services()
            for each in self.client.services:
                for characteristic in await self.client.discover_characteristics([], each):
                    await self.client.discover_descriptors(characteristic)
        else:
            await self.client.request_mtu(527)
            for each in await self.client.discover_service(service):
                await self.client.discover_characteristics([wanted], each)
        found = [characteristic for each in self.client.get_services_by_uuid(service)
                 for characteristic in self.client.get_characteristics_by_uuid(wanted, each)]
        if not found:
            self.journal.note("absent")
            raise Gone
        self.characteristic = found[0]
        # Registered here alone, whatever becomes of the descriptor: values may come without it.
        for subscribers, way in ((self.client.notification_subscribers, "notification"),
                                 (self.client.indication_subscribers, "indication")):
            subscribers.setdefault(self.characteristic.handle, set()).add(partial(self.received, way))
        await self.reached(
            "discovered", mtu=self.client.mtu,
            properties=[each.name for each in Characteristic.Properties if each in self.characteristic.properties])

    def received(self, way: str, value: bytes) -> None:
        self.journal.note("value", value=value.decode(errors="replace"), by=way)
        self.values.put_nowait(value)

    async def subscribe(self, bits: int) -> None:
        """Writes the descriptor that asks for values, where there is one."""
        descriptors = self.characteristic.descriptors or await self.client.discover_descriptors(self.characteristic)
        for descriptor in descriptors:
            if descriptor.type == CONFIGURATION:
                try:
                    await self.client.write_value(descriptor, bits.to_bytes(2, "little"), with_response=True)
                    self.journal.note("subscribed", bits=bits)
                except ATT_Error as error:
                    self.journal.note("subscribed", bits=bits, error=error.error_code)
                return
        self.journal.note("subscribed", bits=None)

    async def write(self, piece: bytes, completed: bool = True) -> None:
        """Without response where the characteristic has that, as both clients do.

        - Parameter completed: to return only when the controller has sent it.
        """
        if self.gone.is_set():
            raise Gone
        self.has_written = True
        asks = Characteristic.Properties.WRITE_WITHOUT_RESPONSE not in self.characteristic.properties
        await self.client.write_value(self.characteristic, piece, with_response=asks)
        if completed:
            await self.drain()

    async def drain(self) -> None:
        """Waits until the controller has sent all, or the connection has ended."""
        drained, gone = asyncio.ensure_future(self.link.drain()), asyncio.ensure_future(self.gone.wait())
        await asyncio.wait((drained, gone), return_when=asyncio.FIRST_COMPLETED)
        drained.cancel(), gone.cancel()
        if self.gone.is_set():
            raise Gone

    async def send(self, message: bytes) -> None:
        """A message and its end, in the order and at the pace of the kind."""
        first, *others = pieces(message)
        cut = len(others) // 2
        paced = self.options.kind == "A"
        subscription = None
        if paced:
            await self.write(first)
            if not self.options.no_subscription:
                await self.subscribe(2)
        else:
            if not self.options.no_subscription:
                subscription = asyncio.create_task(self.subscribe(1))
                await asyncio.sleep(0)
            await self.write(first, completed=False)
        for piece in others[:cut]:
            await self.write(piece, completed=paced)
        await self.reached("begun", pieces=cut + 1)
        for piece in others[cut:]:
            await self.write(piece, completed=paced)
        await self.reached("unfinished", pieces=len(others) + 1, bytes=len(message))
        await self.write(END, completed=paced)
        if subscription:
            await subscription
        await self.drain()
        await self.reached("written")

    async def answer(self) -> bytes | None:
        """The next value; nothing when the connection ends before it."""
        value = await self.values.get()
        if value is not None:
            await self.reached("answered")
        return value

    async def part(self) -> None:
        """An iPhone withdraws what it subscribed to first."""
        if self.options.kind == "I" and not self.options.no_subscription and not self.gone.is_set():
            await self.subscribe(0)
        await self.hang_up()

    async def hang_up(self) -> None:
        if self.connection and not self.gone.is_set():
            await self.connection.disconnect(HUNG_UP)

    def message(self) -> bytes:
        return request(self.options.kind, self.options.url, self.options.name)


async def exchange(central: Central) -> bytes | None:
    """All of it, as it should be."""
    await central.connect()
    await central.discover()
    await central.send(central.message())
    value = await central.answer()
    await central.part()
    return value
