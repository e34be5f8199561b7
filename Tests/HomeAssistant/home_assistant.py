"""Shows what Home Assistant's own MQTT integration makes of a broker's discovery messages.

Run by the Python that `prepare` puts into its folder: `FOLDER/python3 home_assistant.py PORT`. The core of Home
Assistant starts without its web front, adds the MQTT integration through that integration's own setup dialogue, as a
person would, with the broker at 127.0.0.1:PORT, or at another --host, and keeps nothing when it ends.

Each line on standard output is a JSON object with one of these keys:

    ready     Home Assistant has started and is connected to the broker
    entities  all entities and device triggers of the MQTT integration, whenever any of them changed
    fault     what Home Assistant logged as a warning or worse, raised, or told its user to repair
    done      a command was carried out; its value is the command

Each line on standard input is a command; the end of the input ends the program:

    {"service": "light.turn_on", "entity_id": "light.led", "data": {"brightness": 99}}
    {"remove_device": "board-1"}  what deleting a device, known by one of its identifiers, in the front does
    {"wait": 0.5}                 carries out the commands that follow so many seconds later
    {"show": true}                prints the entities although nothing changed
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any


def stand_in(name: str, *members: str) -> None:
    """Puts a module without function in the place of one that is imported here but never used."""
    module = ModuleType(name)
    for member in members:
        setattr(module, member, type(member, (Exception,), {}))
    sys.modules[name] = module


# The cloud is for those with an account there, hassio for Home Assistant's own operating system and its add-ons:
# both import much that is not installed.
stand_in("hass_nabucasa", "remote")
stand_in("homeassistant.components.hassio", "AddonError", "AddonManager", "AddonState")

from homeassistant import config_entries, loader  # noqa: E402
from homeassistant.components.mqtt.models import DATA_MQTT  # noqa: E402
from homeassistant.const import EVENT_STATE_CHANGED, STATE_UNAVAILABLE  # noqa: E402
from homeassistant.core import Event, HomeAssistant, State, callback  # noqa: E402
from homeassistant.data_entry_flow import FlowResultType  # noqa: E402
from homeassistant.helpers import (  # noqa: E402
    area_registry,
    category_registry,
    device_registry,
    entity,
    entity_platform,
    entity_registry,
    floor_registry,
    frame,
    issue_registry,
    label_registry,
    restore_state,
    template,
    translation,
)
from homeassistant.helpers.storage import get_internal_store_manager  # noqa: E402

Record = dict[str, Any]

DEVICE_FIELDS = (
    "name",
    "manufacturer",
    "model",
    "model_id",
    "sw_version",
    "hw_version",
    "serial_number",
    "configuration_url",
)


def tell(record: Record) -> None:
    """Prints one line of JSON at once."""
    print(json.dumps(record, default=str, ensure_ascii=False), flush=True)


class Faults(logging.Handler):
    """Prints each warning and error as a fault."""

    def emit(self, record: logging.LogRecord) -> None:
        # This is where Home Assistant finds fault with how its own parts call one another.
        if record.name == "homeassistant.helpers.frame":
            return
        fault: Record = {"fault": record.getMessage(), "logger": record.name, "level": record.levelname.lower()}
        if record.exc_info and record.exc_info[1]:
            fault["exception"] = repr(record.exc_info[1])
        tell(fault)


class Watcher:
    """Prints the entities of the MQTT integration each time any of them changed."""

    def __init__(self, home: HomeAssistant) -> None:
        self._hass = home
        self._last: list[Record] = []

    def start(self) -> None:
        """Looks again after each event that can change what is shown."""
        for event in (
            EVENT_STATE_CHANGED,
            device_registry.EVENT_DEVICE_REGISTRY_UPDATED,
            entity_registry.EVENT_ENTITY_REGISTRY_UPDATED,
        ):
            self._hass.bus.async_listen(event, self._look)
        self._hass.bus.async_listen(issue_registry.EVENT_REPAIRS_ISSUE_REGISTRY_UPDATED, self._tell_issue)

    @callback
    def look(self, even_if_same: bool = False) -> None:
        """Prints the entities if they changed."""
        records = sorted(
            self._records(), key=lambda record: (record["platform"], record["entity_id"] or record["name"])
        )
        if even_if_same or records != self._last:
            self._last = records
            tell({"entities": records})

    @callback
    def _look(self, _event: Event[Any]) -> None:
        self.look()
        # A device trigger is added just after its device.
        self._hass.loop.call_later(0.1, self.look)

    @callback
    def _tell_issue(self, event: Event[Any]) -> None:
        if event.data["action"] == "create":
            issue = issue_registry.async_get(self._hass).async_get_issue(event.data["domain"], event.data["issue_id"])
            told = issue and {"key": issue.translation_key, "placeholders": issue.translation_placeholders}
            tell({"fault": f"repair asked for: {event.data['issue_id']}", "issue": told})

    def _records(self) -> Iterator[Record]:
        entries = entity_registry.async_get(self._hass)
        shown = set()
        for platform in entity_platform.async_get_platforms(self._hass, "mqtt"):
            for member in platform.entities.values():
                shown.add(member.entity_id)
                # It has no state yet while it is being added.
                if state := self._hass.states.get(member.entity_id):
                    yield self._record_of_entity(platform.domain, member, state)
        for entry in entries.entities.values():
            if entry.platform == "mqtt" and entry.disabled_by and entry.entity_id not in shown:
                yield {
                    "entity_id": entry.entity_id,
                    "unique_id": entry.unique_id,
                    "platform": entry.domain,
                    "name": entry.original_name,
                    "device": self._device(entry.device_id),
                    "disabled": True,
                    "available": False,
                    "state": None,
                }
        for trigger in self._hass.data[DATA_MQTT].device_triggers.values():
            # One that was removed stays there for the automations that use it, without its topic.
            if trigger.topic is None:
                continue
            yield {
                "entity_id": None,
                "unique_id": None,
                "platform": "device_automation",
                "name": f"{trigger.subtype} {trigger.type}",
                "device": self._device(trigger.device_id),
                "available": True,
                "state": None,
                "trigger": {"type": trigger.type, "subtype": trigger.subtype},
            }

    def _record_of_entity(self, platform: str, member: entity.Entity, state: State) -> Record:
        attributes = dict(state.attributes)
        return {
            "entity_id": member.entity_id,
            "unique_id": member.unique_id,
            "platform": platform,
            "name": member.name,
            "friendly_name": attributes.pop("friendly_name", None),
            "device": self._device(member.device_entry.id if member.device_entry else None),
            "category": member.entity_category,
            "icon": attributes.pop("icon", None),
            "device_class": attributes.pop("device_class", None),
            "state_class": attributes.pop("state_class", None),
            "unit_of_measurement": attributes.pop("unit_of_measurement", None),
            "state": state.state,
            "available": state.state != STATE_UNAVAILABLE,
            "attributes": attributes,
        }

    def _device(self, identity: str | None) -> Record | None:
        device = device_registry.async_get(self._hass).async_get(identity) if identity else None
        if device is None:
            return None
        record: Record = {field: getattr(device, field) for field in DEVICE_FIELDS}
        record["identifiers"] = sorted(value for _, value in device.identifiers)
        record["connections"] = sorted([kind, value] for kind, value in device.connections)
        return record


class Commands:
    """Carries out the commands on standard input in their order."""

    def __init__(self, home: HomeAssistant, watcher: Watcher) -> None:
        self._hass = home
        self._watcher = watcher
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    async def run(self) -> None:
        """Returns at the end of the input."""
        threading.Thread(target=self._read, args=(self._hass.loop.call_soon_threadsafe,), daemon=True).start()
        while (line := await self._lines.get()) is not None:
            if not line.strip():
                continue
            try:
                command = json.loads(line)
                await self._carry_out(command)
                tell({"done": command})
            except Exception as error:  # noqa: BLE001 - whatever a command raises is what the caller asks about
                tell({"fault": f"{type(error).__name__}: {error}", "command": line.strip()})

    def _read(self, soon: Callable[..., Any]) -> None:
        for line in sys.stdin:
            soon(self._lines.put_nowait, line)
        soon(self._lines.put_nowait, None)

    async def _carry_out(self, command: Record) -> None:
        if "service" in command:
            domain, _, service = command["service"].partition(".")
            data = dict(command.get("data") or {})
            if "entity_id" in command:
                data["entity_id"] = command["entity_id"]
            await self._hass.services.async_call(domain, service, data, blocking=True)
        elif "remove_device" in command:
            await self._remove(command["remove_device"])
        elif "wait" in command:
            await asyncio.sleep(command["wait"])
        elif "show" in command:
            self._watcher.look(even_if_same=True)
        else:
            raise ValueError("no such command")

    async def _remove(self, identifier: str) -> None:
        devices = device_registry.async_get(self._hass)
        entry = self._hass.config_entries.async_entries("mqtt")[0]
        all_devices = device_registry.async_entries_for_config_entry(devices, entry.entry_id)
        known = [device for device in all_devices if ("mqtt", identifier) in device.identifiers]
        if not known:
            raise LookupError(f"no device {identifier!r}")
        integration = await loader.async_get_integration(self._hass, "mqtt")
        component = await integration.async_get_component()
        if not await component.async_remove_config_entry_device(self._hass, entry, known[0]):
            raise PermissionError(f"the device {identifier!r} cannot be deleted")
        devices.async_remove_device(known[0].id)


async def load_registries(home: HomeAssistant) -> None:
    """Starts the parts of the core that integrations build on."""
    for part in (entity, frame, template, translation):
        part.async_setup(home)
    # Releases of 2026 after February's start this one apart.
    if start := getattr(device_registry, "async_setup", None):
        start(home)
    registries = (
        area_registry,
        category_registry,
        floor_registry,
        label_registry,
        device_registry,
        entity_registry,
        issue_registry,
        restore_state,
    )
    # They wait for one another.
    await asyncio.gather(
        get_internal_store_manager(home).async_initialize(),
        *(registry.async_load(home) for registry in registries),
        home.config_entries.async_initialize(),
    )


async def add_mqtt(home: HomeAssistant, host: str, port: int) -> None:
    """Goes through the setup dialogue of the MQTT integration."""
    flows = home.config_entries.flow
    step = await flows.async_init("mqtt", context={"source": config_entries.SOURCE_USER})
    if step["type"] is FlowResultType.FORM:
        answers: Record = {"broker": host, "port": port}
        # Newer releases ask for this as well.
        if "other_settings" in step["data_schema"].schema:
            answers["other_settings"] = {"set_client_cert": False, "set_ca_cert": "off", "transport": "tcp"}
        step = await flows.async_configure(step["flow_id"], answers)
    if step["type"] is not FlowResultType.CREATE_ENTRY:
        raise RuntimeError(f"the MQTT integration was not added: {step.get('errors') or step.get('reason') or step}")
    await home.async_block_till_done()
    entry = home.config_entries.async_entries("mqtt")[0]
    if entry.state is not config_entries.ConfigEntryState.LOADED:
        raise RuntimeError(f"the MQTT integration did not start: {entry.state} {entry.reason}")


@contextmanager
def faults_told() -> Iterator[None]:
    """Prints what is logged as a warning or worse, until the end."""
    handler = Faults(logging.WARNING)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


async def run(host: str, port: int, folder: str) -> None:
    """Runs Home Assistant until the end of the input."""
    home = HomeAssistant(folder)
    try:
        # What the integration requires is installed already, and nothing else may be.
        home.config.skip_pip = True
        home.config.safe_mode = True
        loader.async_setup(home)
        home.config_entries = config_entries.ConfigEntries(home, {})
        await load_registries(home)
        # These serve the front, which is left out: they open ports and are of no matter for discovery.
        home.config.components.update({"http", "file_upload"})
        with faults_told():
            await home.async_start()
            watcher = Watcher(home)
            watcher.start()
            await add_mqtt(home, host, port)
            tell({"ready": True})
            await Commands(home, watcher).run()
    finally:
        await home.async_stop(force=True)


def main() -> int:
    """Runs the program."""
    parser = argparse.ArgumentParser(description="Shows what Home Assistant makes of MQTT discovery.")
    parser.add_argument("port", type=int, help="the broker's port")
    parser.add_argument("--host", default="127.0.0.1", help="the broker's address on loopback")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="home-assistant-") as folder:
        # The integration looks there for entities of its own.
        Path(folder, "configuration.yaml").touch()
        try:
            asyncio.run(run(arguments.host, arguments.port, folder))
        except RuntimeError as error:
            tell({"fault": str(error)})
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
