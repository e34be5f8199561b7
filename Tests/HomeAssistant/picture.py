"""Takes the picture of a board's page in Home Assistant's own web front, for docs/home-assistant.md.

Run by the Python of the folder that `prepare` makes: `FOLDER/python3 picture.py PORT FRONT FILE.png`. FRONT has what
`pip install --no-deps --target FRONT home-assistant-frontend==VERSION` puts there; components/frontend/manifest.json
names the version. A board announces itself at the broker 127.0.0.1:PORT; the picture comes when its button is pressed.
"""

import asyncio
import base64
import json
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import MagicMock

sys.path[:0] = [str(Path(__file__).parents[1] / "Support"), sys.argv[2]]

import home_assistant as rig  # noqa: E402
from browser import Browser  # noqa: E402

# Imported for speech, cameras, calendars and backups, and never used.
ABSENT = """audioop dateutil dateutil.rrule habluetooth haffmpeg haffmpeg.core haffmpeg.tools turbojpeg hassil
    hassil.expression hassil.fuzzy hassil.intents hassil.models hassil.ngram hassil.recognize hassil.string_matcher
    hassil.trie hassil.util home_assistant_intents mutagen mutagen.id3 numpy pymicro_vad pyspeex_noise securetar"""
for absent in ABSENT.split():
    sys.modules[absent] = MagicMock()
sys.modules["hass_nabucasa"].remote.is_cloud_request = MagicMock(get=lambda: False)

from homeassistant import core_config, setup  # noqa: E402

WEB, PORT = "http://127.0.0.1:18123", 18123
ONBOARDING = {"version": 4, "key": "onboarding", "data": {"done": ["user", "core_config", "analytics", "integration"]}}
# What the cards of the board take of the page, once all are there; they are in the shadows of other elements.
AREA = """(() => {
    const within = root => [...root.querySelectorAll("*")].flatMap(
        element => [element, ...element.shadowRoot ? within(element.shadowRoot) : []])
    const cards = within(document).filter(card => /^ha-device-(info|entities)-card$/.test(card.localName))
    const edges = cards.map(card => card.getBoundingClientRect()).filter(edge => edge.height > 90)
    const x = edges[0]?.left - 12, last = edges.at(-1)
    return edges.length > 4 && {x, y: 0, width: last.right + 12 - x, height: last.bottom + 12, scale: 1}
})()"""


def take(device, token, file):
    login = json.dumps({"access_token": token, "hassUrl": WEB, "expires": 1000 * time.time() + 9e5})
    with Browser(1140) as browser:
        browser.open(f"{WEB}/manifest.json")
        browser.do("Object.assign(localStorage, {hassTokens: arguments[0], dockedSidebar: '\"always_hidden\"'})", login)
        browser.call("POST", "/window/rect", width=1140, height=1600)
        browser.open(f"{WEB}/config/devices/device/{device}")
        browser.until(AREA)
        time.sleep(3)  # Until all that moves has settled.
        file.write_bytes(base64.b64decode(browser.devtools("Page.captureScreenshot", clip=browser.ask(AREA))["data"]))


async def run(port, folder, file):
    (folder / "configuration.yaml").touch()
    (folder / ".storage").mkdir()
    (folder / ".storage/onboarding").write_text(json.dumps(ONBOARDING))
    home = rig.HomeAssistant(str(folder))
    home.config.skip_pip = True
    rig.loader.async_setup(home)
    home.config_entries = rig.config_entries.ConfigEntries(home, {})
    await rig.load_registries(home)
    await core_config.async_process_ha_core_config(home, {"unit_system": "metric"})
    for part in ("homeassistant", "persistent_notification", "http", "frontend"):
        await setup.async_setup_component(home, part, {"http": {"server_host": ["127.0.0.1"], "server_port": PORT}})
    await home.async_start()
    owner = await home.auth.async_create_user("Owner", group_ids=["system-admin"])
    token = home.auth.async_create_access_token(await home.auth.async_create_refresh_token(owner, client_id=WEB))
    await rig.add_mqtt(home, "127.0.0.1", port)
    print("Press the button of the board.", flush=True)
    while not any(event.attributes.get("event_type") for event in home.states.async_all("event")):
        await asyncio.sleep(0.1)
    await asyncio.to_thread(take, next(iter(rig.device_registry.async_get(home).devices)), token, file)
    await home.async_stop(force=True)


with tempfile.TemporaryDirectory(prefix="home-assistant-") as scratch:
    asyncio.run(run(int(sys.argv[1]), Path(scratch), Path(sys.argv[3])))
