"""A Bluetooth controller that belongs to Bumble, which is the phone's whole stack above it."""
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bumble.device import Device, DeviceConfiguration
from bumble.transport.common import TransportSink, TransportSource
from bumble.transport.hci_socket import open_hci_socket_transport


@asynccontextmanager
async def radio(adapter: int, name: str) -> AsyncIterator[Device]:
    """The controller must be down, for it leaves the kernel. It comes back when the process ends."""
    transport = await open_hci_socket_transport(str(adapter))
    async with phone(transport.source, transport.sink, name) as device:
        yield device
    await transport.close()


@asynccontextmanager
async def phone(source: TransportSource, sink: TransportSink, name: str) -> AsyncIterator[Device]:
    """As phones do, it shows a private address, another one in each process. Connections are hung up at the end:
    simulated controllers know no supervision timeout, so that a peer would not notice.
    """
    configuration = DeviceConfiguration(
        name=name, irk=secrets.token_bytes(16), le_privacy_enabled=True, le_rpa_timeout=0, classic_smp_enabled=False)
    device = Device.from_config_with_hci(configuration, source, sink)
    await device.power_on()
    try:
        yield device
    finally:
        for connection in list(device.connections.values()):
            await connection.disconnect()
        # Nor do they forget, without being told, what they advertise.
        if device.is_advertising:
            await device.stop_advertising()
        await device.power_off()
