"""Agents on the virtual board, for proximity_board.py: their programs, local APIs and events."""

import json
import socket
import subprocess
import threading
import time
from pathlib import Path

from local_api import Connection


class BoardError(Exception):
    """Something on the board did not do what the measurement needs."""


class Agent:
    """One agent of the two: its program, its local API, its events."""

    def __init__(self, name, program, transport, adapter):
        self.name = name
        self.folder = Path("/run", f"{transport}-{name}")
        for folder in self.folder, self.folder / "state":
            folder.mkdir(0o700)
        self.socket = str(self.folder / "api.sock")
        board = self.folder / "board.toml"
        board.write_text(f'title = "{name}"\n')
        settings = self.folder / "latchkey.toml"
        settings.write_text(
            f'[agent]\nstate_directory = "{self.folder}/state"\n[vault]\nslot = "development-key-file"\n'
            f'[api]\nsocket = "{self.socket}"\n[board]\ndefinition = "{board}"\n[gateway]\ndevice_name = "{name}"\n'
            f'[bluetooth]\ntransport = "{transport}"\nadapter = "{adapter}"\n[proximity]\nrequests_per_minute = 60\n')
        self.log = self.folder / "log"
        self.process = subprocess.Popen([program, "run", "--config", settings], stderr=self.log.open("wb"))
        await_true(90, f"the agent {name}", self.is_ready)

    def is_ready(self):
        if self.process.poll() is not None:
            raise BoardError(f"the agent {self.name} ended: {self.last_words()}")
        return b"agent: ready" in self.log.read_bytes()

    def last_words(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-12:])

    def call(self, method, path, body=None, timeout=180):
        """An exchange with the local API: the answer as JSON."""
        connection = Connection(self.socket, timeout)
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status >= 300:
            raise BoardError(f"{self.name}: {method} {path}: {answer.status} {text.decode(errors='replace')[:300]}")
        return json.loads(text or b"{}")

    def follow(self, sink):
        """Puts (time, board, event) into the queue as events come; returns what ends that."""
        connection = Connection(self.socket, None)
        connection.request("GET", "/v1/events", headers={"Accept": "application/x-ndjson"})
        stream = connection.sock
        answer = connection.getresponse()

        def read():
            try:
                while line := answer.readline():
                    now = time.monotonic()
                    try:
                        event = json.loads(line)
                    except ValueError:
                        continue
                    sink.put((now, self.name, flat(event)))
            except (OSError, ValueError, AttributeError):
                pass        # the stream was ended
        threading.Thread(target=read, daemon=True).start()
        return lambda: stream.shutdown(socket.SHUT_RDWR)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def flat(event):
    """An event with its name as member "event", whether or not it is wrapped."""
    data = event.get("data")
    return {**data, "event": event.get("event", data.get("event"))} if isinstance(data, dict) else event


def await_true(seconds, what, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise BoardError(f"{what} did not come in {seconds} s")
        time.sleep(0.1)
