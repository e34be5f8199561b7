"""A phone that is logged in and lets others log in: the peripheral of the exchange (MAG 8.2 to 8.5)."""
import asyncio
import json
from argparse import Namespace
from collections.abc import AsyncIterator

from bumble.att import ATT_PDU, Attribute, AttributeValue, Bearer
from bumble.core import UUID, AdvertisingData
from bumble.device import Connection, Device
from bumble.gatt import Characteristic, Descriptor, Service

from journal import Journal
from orders import orders
from request import END

ADVERTISED = bytes([AdvertisingData.LE_GENERAL_DISCOVERABLE_MODE_FLAG | AdvertisingData.BR_EDR_NOT_SUPPORTED_FLAG])


class Undescribed(Characteristic[bytes]):
    """An Android application adds the descriptor for subscriptions itself, and this one does not. Bumble adds it where
    none is there; it is told that there is one."""

    def get_descriptor(self, descriptor_type: UUID) -> Descriptor:
        return Descriptor(descriptor_type, Attribute.Permissions(0))


class Peripheral:
    def __init__(self, device: Device, journal: Journal, options: Namespace) -> None:
        self.device = device
        self.journal = journal
        self.options = options
        self.answered = asyncio.Event()
        self.connection: Connection | None = None
        # One for all centrals, and not cleared when one leaves: both clients do that.
        self.collected = b""
        self.sizes: list[int] = []
        make = Undescribed if options.kind == "A" else Characteristic[bytes]
        self.characteristic: Characteristic[bytes] = make(
            options.characteristic, Characteristic.Properties.WRITE_WITHOUT_RESPONSE | Characteristic.Properties.NOTIFY,
            Attribute.Permissions.READABLE | Attribute.Permissions.WRITEABLE, AttributeValue(write=self.written))
        self.characteristic.on("subscription", self.subscribed)
        device.add_service(Service(options.service, [self.characteristic]))
        if options.kind == "A":
            device.gatt_server.on_att_write_request = self.asked_to_write
        device.on("connection", self.connected)

    async def start(self) -> None:
        uuid = bytes(UUID(self.options.service))
        power = [(AdvertisingData.TX_POWER_LEVEL, bytes([0xF9]))] if self.options.kind == "A" else []
        data = AdvertisingData([(AdvertisingData.FLAGS, ADVERTISED), *power,
                                (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, uuid)])
        await self.device.start_advertising(
            auto_restart=True, advertising_data=bytes(data), scan_response_data=b"", advertising_interval_min=100,
            advertising_interval_max=100)
        self.journal.note("started", kind=self.options.kind, address=self.device.random_address.to_string(False))

    # --- what the central does ----------------------------------------------------------

    def connected(self, connection: Connection) -> None:
        self.connection = connection
        connection.on("disconnection", self.disconnected)
        self.journal.note("connected", address=connection.peer_address.to_string(False))

    def disconnected(self, reason: int) -> None:
        self.connection = None
        self.journal.note("disconnected", reason=reason)

    def subscribed(self, _: Bearer, notify: bool, indicate: bool) -> None:
        self.journal.note("subscribed", notify=notify, indicate=indicate)

    def asked_to_write(self, _: Bearer, request: ATT_PDU) -> None:
        """The Android client leaves a write that wants a response without one."""
        self.journal.note("unanswered", request=request.name)

    def written(self, _: Connection, value: bytes) -> None:
        if value != END:
            # Android makes text of each piece by itself; letters that lie across a border are lost.
            self.collected += value.decode(errors="replace").encode() if self.options.kind == "A" else value
            self.sizes.append(len(value))
            return
        sizes, self.sizes = self.sizes, []
        try:
            document = json.loads(self.collected)
        except ValueError:
            # Neither client answers, nor forgets what it has.
            self.journal.note("unreadable", bytes=len(self.collected), pieces=len(sizes))
            return
        self.journal.note(
            "request", document=document, bytes=len(self.collected), pieces=len(sizes), longest=max(sizes, default=0))
        self.collected = b""
        if self.options.decide is not None:
            asyncio.create_task(self.answer(self.options.decide))

    # --- what the user decides ------------------------------------------------------------

    async def answer(self, value: str) -> None:
        """An Android phone sends an indication whatever the central asked for, an iPhone a notification if it asked at
        all."""
        connection, server = self.connection, self.device.gatt_server
        if connection is None:
            self.journal.note("unsent", value=value)
            return
        if self.options.kind == "A":
            send = server.indicate_subscriber(connection, self.characteristic, value.encode(), force=True)
        elif any(server.read_cccd(connection, self.characteristic)):
            send = server.notify_subscriber(connection, self.characteristic, value.encode(), force=True)
        else:
            self.journal.note("unsubscribed", value=value)
            return
        try:
            await send
            self.journal.note("sent", value=value)
        except (TimeoutError, asyncio.CancelledError):
            self.journal.note("unconfirmed", value=value)

    async def obey(self, given: AsyncIterator[str]) -> None:
        """`go TEXT` answers with this text, `hang-up` ends the connection, `stop` the program."""
        async for order in given:
            match order.split(maxsplit=1):
                case ["go", value]:
                    await self.answer(value)
                case ["hang-up"] if self.connection:
                    await self.connection.disconnect()
                case ["stop"]:
                    return
                case _:
                    self.journal.note("not-understood", order=order)


async def serve(device: Device, journal: Journal, options: Namespace) -> None:
    """Until an order or a signal ends it."""
    given = orders(options.orders) if options.orders else None
    phone = Peripheral(device, journal, options)
    await phone.start()
    if given:
        await phone.obey(given)
    else:
        await asyncio.Event().wait()
