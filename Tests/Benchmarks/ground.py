"""What every measurement stands on: a folder, the lab gateway, a real broker with mutual TLS, enrolled boards and other
clients. Everything listens on loopback; leaving the ground ends and removes it all.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from local_api import Connection

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "latchkey-bench")
PAHO = "paho-mqtt==2.1.0"
BROKER = "/usr/sbin/mosquitto"


class BenchError(Exception):
    """Something did not do what the measurement needs."""


# Whose words these are.
PROGRAM = "deploy/bench"


def say(text):
    print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)


def await_true(seconds, what, condition, every=0.05):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise BenchError(f"{what} did not come in {seconds} s")
        time.sleep(every)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def paho_python():
    """A Python with paho-mqtt from PyPI, in an environment of its own that is kept for the next time."""
    python = CACHE / "paho" / "bin" / "python3"
    wanted = CACHE / "paho" / PAHO
    if not wanted.exists():
        say(f"installing {PAHO} into {CACHE}/paho")
        shutil.rmtree(CACHE / "paho", ignore_errors=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", CACHE / "paho"], check=True, timeout=120)
        subprocess.run([python, "-m", "pip", "-q", "--disable-pip-version-check", "install", PAHO], check=True,
                       timeout=120)
        wanted.touch()
    return str(python)


class Peer:
    """Another client of the gateway, registered by the lab: what Mosquitto's own programs and paho connect with."""

    def __init__(self, ground, name):
        self.folder = ground.folder / name
        answer = json.loads(ground.lab("client", "--name", name, "--out", self.folder, "--json"))
        self.client_id, self.user, self.password = answer["client_id"], answer["user_name"], answer["access_token"]
        self.port = ground.broker_port

    @property
    def options(self):
        """For mosquitto_pub, mosquitto_sub and mosquitto_rr."""
        return [
            "-h", "localhost", "-p",
            str(self.port), "-i", self.client_id, "-u", self.user, "-P", self.password, "--cafile",
            f"{self.folder}/ca.pem", "--cert", f"{self.folder}/cert.pem", "--key", f"{self.folder}/key.pem"
        ]


class Board:
    """An agent with a state directory of its own."""

    def __init__(self, ground, name, sensors="", **settings):
        self.ground, self.name = ground, name
        self.folder = ground.folder / name
        (self.folder / "state").mkdir(parents=True, mode=0o700)
        self.socket = str(self.folder / "api.sock")
        self.settings = self.folder / "latchkey.toml"
        self.process, self.topics = None, None
        definition = self.folder / "board.toml"
        definition.write_text(f'title = "{name}"\n{sensors}')
        values = {
            "agent": {"state_directory": str(self.folder / "state"), "log_level": "warning"},
            "vault": {"slot": "development-key-file"}, "api": {"socket": self.socket},
            "board": {"definition": str(definition)}, "gateway": {"device_name": name},
            "broker": {"host": "localhost", "port": ground.broker_port}, "telemetry": {"enabled": False},
        }
        for table, members in settings.items():
            values.setdefault(table, {}).update(members)
        self.port = values["broker"]["port"]
        self.settings.write_text("".join(
            f"[{table}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in members.items())
            for table, members in values.items()))

    def start(self, **more):
        self.log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            [self.ground.latchkey, "run", "--config", self.settings], stdin=subprocess.DEVNULL, stderr=self.log, **more)
        await_true(60, f"the agent {self.name}", self.is_up)
        return self

    def is_up(self):
        if self.process.poll() is not None:
            raise BenchError(f"the agent {self.name} ended: "
                             + (self.folder / "log").read_text(errors="replace")[-600:])
        try:
            return bool(self.call("GET", "/v1/status"))
        except OSError:
            return False

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def enroll(self):
        url = self.ground.lab("enroll").strip()
        self.command("enroll", "-", input=url)
        self.await_connected()
        self.topics = f"/2.0/client/devices/{self.status('registration', 'deviceID')}/custom"
        return self

    def join(self):
        """An account of its own at the broker, and no gateway."""
        credentials = self.ground.peer(f"{self.name}-at-the-broker").folder
        self.command("accounts", "add", "home", "--broker", f"mqtts://localhost:{self.port}", "--topics",
                     f"{self.name}/{{name}}", "--certificate", f"{credentials}/cert.pem", "--key",
                     f"{credentials}/key.pem", "--authorities", f"{credentials}/ca.pem")
        self.await_connected()
        self.topics = self.name
        return self

    def await_connected(self, seconds=60):
        await_true(seconds, f"the connection of {self.name}", lambda: self.status("broker", "state") == "connected")
        return self

    def await_drained(self, seconds=600, every=0.2):
        await_true(seconds, f"the empty outbox of {self.name}", lambda: self.status("outbox", "depth") == 0, every)

    def status(self, *path):
        value = self.call("GET", "/v1/status")
        for name in path:
            value = value.get(name) or {} if name != path[-1] else value.get(name)
        return value

    @property
    def outbox(self):
        return next((self.folder / "state").glob("outbox-*.db"))

    def command(self, *words, **more):
        done = subprocess.run([self.ground.latchkey, *words, "--socket", self.socket],
                              check=False, capture_output=True, text=True, timeout=120, **more)
        if done.returncode:
            raise BenchError(f"latchkey {words[0]} failed: {done.stderr.strip()}")
        return done.stdout

    def call(self, method, path, body=None, timeout=60):
        connection = Connection(self.socket, timeout)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise BenchError(f"{self.name}: {method} {path}: {answer.status} {text.decode(errors='replace')[:300]}")
        return json.loads(text or b"{}")


class Ground(contextlib.AbstractContextManager):
    """The folder, the gateway and the broker."""

    def __init__(self, programs, latchkey):
        self.programs, self.latchkey = Path(programs), str(latchkey)
        self.boards, self.processes = [], []

    def __enter__(self):
        # Not /tmp, which may be memory: what is measured syncs to a disk.
        self.folder = Path(
            tempfile.mkdtemp(prefix="latchkey-bench-", dir=os.environ.get("LATCHKEY_BENCH_FOLDER", "/var/tmp")))
        try:
            self.start_lab()
            self.start_broker()
        except BaseException:
            self.leave()
            raise
        return self

    def __exit__(self, *_):
        self.leave()

    def leave(self):
        for board in self.boards:
            board.stop()
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_lab(self):
        log = self.folder / "lab.log"
        # The lab is a debug build: it is let sit still, and the broker is one of our own that does not ask it.
        self.processes.append(subprocess.Popen(
            [self.programs / "latchkey-lab", "run", "--port", "0", "--admin-port", "0", "--no-broker", "--data",
             self.folder / "lab"], stdout=log.open("wb"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL))
        await_true(90, "the lab gateway", lambda: "admin page" in log.read_text())
        # Without the token in the link: the commands find it in a file.
        page = next(line.split()[-1] for line in log.read_text().splitlines() if line.startswith("admin page"))
        self.admin = page.split("#")[0]

    def certify_broker(self):
        """A certificate for localhost, of the gateway's authority, with the key of the gateway."""
        self.certificate = self.folder / "broker.pem"
        subprocess.run([
            "openssl", "req", "-x509", "-new", "-key", "lab/server.key", "-CA", "lab/ca.pem", "-CAkey", "lab/ca.key",
            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext",
            "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth", "-out", self.certificate
        ], cwd=self.folder, check=True, capture_output=True)

    def start_broker(self):
        """Mosquitto with a certificate of the gateway's authority; a second port without TLS is for whoever looks
        on."""
        self.certify_broker()
        self.broker_port, self.plain_port = free_port(), free_port()
        configuration = self.folder / "mosquitto.conf"
        configuration.write_text(
            "per_listener_settings true\npersistence false\nmax_queued_messages 0\nmax_queued_bytes "
            "0\nset_tcp_nodelay true\n"
            "sys_interval 1\nlog_dest stderr\nlog_type error\nlog_type warning\nlog_type notice\nlog_type subscribe\n"
            f"listener {self.broker_port} 127.0.0.1\ncafile {self.folder}/lab/ca.pem\ncertfile {self.certificate}\n"
            f"keyfile {self.folder}/lab/server.key\ntls_version tlsv1.2\nrequire_certificate "
            f"true\nallow_anonymous true\n"
            f"listener {self.plain_port} 127.0.0.1\nallow_anonymous true\n"
            + ("user root\n" if os.getuid() == 0 else ""))
        self.run_broker()

    def run_broker(self):
        log = (self.folder / "broker.log").open("ab")
        self.broker = subprocess.Popen([BROKER, "-c", self.folder / "mosquitto.conf"], stderr=log, stdout=log,
                                       stdin=subprocess.DEVNULL)
        self.processes.append(self.broker)

        def listens():
            if self.broker.poll() is not None:
                raise BenchError("the broker ended: " + (self.folder / "broker.log").read_text()[-400:])
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.broker_port)) == 0
        await_true(15, "the broker", listens)

    def stop_broker(self):
        self.broker.terminate()
        self.broker.wait(15)
        self.processes.remove(self.broker)

    def lab(self, *words):
        return subprocess.run([self.programs / "latchkey-lab", *words, "--admin", self.admin],
                              check=True, capture_output=True, text=True, timeout=60).stdout

    def peer(self, name):
        return Peer(self, name)

    def board(self, name, sensors="", **settings):
        board = Board(self, name, sensors, **settings)
        self.boards.append(board)
        return board
