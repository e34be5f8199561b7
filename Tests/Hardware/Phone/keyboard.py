"""A keyboard that makes itself the board's, as a stranger could: HID over GATT (HOGP 1.0) on a connection that it
begins."""
import asyncio
from collections.abc import AsyncIterator

from bumble.att import Attribute, AttributeValue
from bumble.core import UUID, BaseBumbleError
from bumble.device import Connection, Device
from bumble.gatt import Characteristic, Descriptor, Service
from bumble.hci import HCI_REMOTE_USER_TERMINATED_CONNECTION_ERROR as HUNG_UP
from bumble.hci import Address

from central import CONNECTING, bond
from journal import Journal
from orders import orders

#: One byte for the key that is down (USB HID 1.11, 6.2.2).
REPORT_MAP = bytes.fromhex("0501 0906 a101 0507 1500 2565 1900 2965 7508 9501 8100 c0")
LETTER_A, NO_KEY = bytes([4]), bytes([0])

#: Seconds for the board to ask for a bond, as bluetoothd does when it has read that this is a keyboard.
ASKING = 10


class Keyboard:
    def __init__(self, device: Device, journal: Journal) -> None:
        self.device = device
        self.journal = journal
        self.connection: Connection | None = None
        self.gone = asyncio.Event()
        self.was_asked = asyncio.Event()
        read, readable = Characteristic.Properties.READ, Attribute.Permissions.READABLE
        self.report: Characteristic[bytes] = Characteristic(
            UUID.from_16_bits(0x2A4D), read | Characteristic.Properties.NOTIFY, readable, NO_KEY,
            # An input report without a number.
            [Descriptor(UUID.from_16_bits(0x2908), readable, bytes([0, 1]))])
        self.report.on("subscription", lambda _, notify, __: journal.note("subscribed", notify=notify))
        self.service = Service(UUID.from_16_bits(0x1812), [
            # HID 1.11, for no country, can be connected to.
            Characteristic(UUID.from_16_bits(0x2A4A), read, readable, bytes([0x11, 1, 0, 2])),
            Characteristic(UUID.from_16_bits(0x2A4B), read, readable, AttributeValue(read=self.described)),
            Characteristic(UUID.from_16_bits(0x2A4C), Characteristic.Properties.WRITE_WITHOUT_RESPONSE,
                           Attribute.Permissions.WRITEABLE, bytes(1)),
            self.report,
        ])
        self.others = len(device.gatt_server.attributes)

    def described(self, _: Connection) -> bytes:
        self.journal.note("described")
        return REPORT_MAP

    def offer(self, is_offered: bool) -> None:
        """As the last of the device's services, or not at all."""
        server = self.device.gatt_server
        if not is_offered:
            del server.attributes[self.others:]
        elif len(server.attributes) == self.others:
            self.device.add_service(self.service)

    async def connect(self, address: str) -> Connection:
        self.gone.clear(), self.was_asked.clear()
        while True:
            try:
                connection = await self.device.connect(Address(address, Address.PUBLIC_DEVICE_ADDRESS),
                                                       timeout=CONNECTING)
            except BaseBumbleError:
                # A simulated controller forgets the wish when nobody advertises just then.
                continue
            connection.on("disconnection", self.disconnected)
            connection.on("security_request", lambda _: self.was_asked.set())
            self.connection = connection
            self.journal.note("connected")
            return connection

    def disconnected(self, reason: int) -> None:
        self.journal.note("disconnected", reason=reason)
        self.connection = None
        self.gone.set()

    async def intrude(self, conduct: str, address: str) -> None:
        """Connects and bonds: `eager` at once, `patient` when it is asked to, `late` at once too, but only then shows
        what it is. Where it is refused, it tries once more when it is asked to."""
        self.offer(conduct != "late")
        connection = await self.connect(address)
        is_bonded = conduct != "patient" and await bond(connection, self.journal)
        if not is_bonded and await self.asked():
            is_bonded = await bond(connection, self.journal)
        if is_bonded and conduct == "late":
            self.offer(True)
            # All handles (Core, Vol 3 Part G 7.1).
            changed = self.device.gatt_service.service_changed_characteristic
            await self.device.gatt_server.indicate_subscriber(
                connection, changed, bytes([1, 0, 255, 255]), force=True)
        if not is_bonded and self.connection:
            await connection.disconnect(HUNG_UP)
        await self.gone.wait()

    async def asked(self) -> bool:
        """Whether the board asks for a bond before it hangs up, and in time."""
        waiting = [asyncio.ensure_future(event.wait()) for event in (self.was_asked, self.gone)]
        await asyncio.wait(waiting, timeout=ASKING, return_when=asyncio.FIRST_COMPLETED)
        for each in waiting:
            each.cancel()
        return self.was_asked.is_set() and not self.gone.is_set()

    async def type(self, connection: Connection) -> None:
        for key in LETTER_A, NO_KEY:
            await self.device.gatt_server.notify_subscriber(connection, self.report, key)
        self.journal.note("typed")

    async def obey(self, given: AsyncIterator[str]) -> None:
        """`eager ADDRESS`, `patient ADDRESS` or `late ADDRESS` begins, `type` presses a key, `stop` ends the
        program."""
        async for order in given:
            match order.split():
                case ["eager" | "patient" | "late" as conduct, address]:
                    self.intruding = asyncio.create_task(self.conduct(conduct, address))
                case ["type"] if self.connection:
                    await self.type(self.connection)
                case ["stop"]:
                    return
                case _:
                    self.journal.note("not-understood", order=order)

    async def conduct(self, conduct: str, address: str) -> None:
        try:
            await self.intrude(conduct, address)
        except (BaseBumbleError, TimeoutError, asyncio.CancelledError) as error:
            # The board hung up in the middle of something.
            self.journal.note("broken-off", error=repr(error))
            await self.gone.wait()
        self.journal.note("ended", mode=conduct)


async def serve(device: Device, journal: Journal, fifo: str) -> None:
    given = orders(fifo)
    journal.note("ready")
    await Keyboard(device, journal).obey(given)
