"""A broker from PyPI with its own defaults, but for where it listens: broker.py amqtt|rumqttd ADDRESS.

Prints "running" when it listens on port 1883.
"""

import asyncio
import socket
import sys
import threading
import time
from importlib.resources import files


async def serve_amqtt(address):
    import yaml
    from amqtt.broker import Broker

    settings = yaml.safe_load(files("amqtt.scripts").joinpath("default_broker.yaml").read_text())
    settings["listeners"]["default"]["bind"] = f"{address}:1883"
    await Broker(settings).start()
    await asyncio.Event().wait()


def serve_rumqttd(address):
    from iotcore import IotCoreBroker

    IotCoreBroker(listen=address, port=1883).run_forever()


def announce(address):
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((address, 1883)) == 0:
                return print("running", flush=True)
        time.sleep(0.05)


name, address = sys.argv[1:]
threading.Thread(target=announce, args=(address,), daemon=True).start()
if name == "amqtt":
    asyncio.run(serve_amqtt(address))
else:
    serve_rumqttd(address)
