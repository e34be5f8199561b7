"""The programs that keep messages for a broker, each on a disk of its own: how each is started, given messages, and
killed."""

import json
import queue
import re
import socket
import subprocess
import threading
from http.client import HTTPException

from flash_disk import Disk
from footprint import COLLECTD, SAMPLED
from ground import BROKER, BenchError, await_true, free_port
from local_api import Connection
from onlooker import Onlooker, packet, text

# Messages of a burst that are under way at once, and so may share a sync.
WIDTH = 8
TOPIC = "flash"
# Its payload, and collectd's: a time and then values, of which the first is the number.
NUMBERED = re.compile(rb'\{"from": "(\w+)", "number": (\d+), ')
VALUES = re.compile(rb"[\d.]+:(\d+):")


def payload(name, number, size):
    head = f'{{"from": "{name}", "number": {number}, "text": "'
    return head + "x" * (size - len(head) - 2) + '"}'


def origin(message):
    """Which program it comes from, and its number."""
    if found := NUMBERED.match(message):
        return found[1].decode(), int(found[2])
    if found := VALUES.match(message):
        return Collectd.name, int(found[1])
    return None


class Program:
    """One of them. `answered` has the numbers of the messages that it said it has."""

    title, kept = "", ""
    # Whether messages are to arrive that came while the broker was away.
    forwards_later = True
    # Whether it is given messages, or has only its own.
    is_given = True
    # Whether what it writes once its file has grown is less than at first.
    reuses_log = False

    def __init__(self, ground, name, size):
        self.ground, self.name, self.size = ground, name, size
        self.answered, self.process = set(), None
        self.disk = Disk(ground.folder / f"{name}.image", ground.folder / f"{name}-disk")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        self.disk.close()

    def launch(self, words, log):
        with (self.ground.folder / log).open("ab") as output:
            self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output)

    def await_open(self, connect):
        def is_open():
            if self.process.poll() is not None:
                raise BenchError(f"{self.title} ended: "
                                 + (self.ground.folder / f"{self.name}.log").read_text(errors="replace")[-600:])
            try:
                connect().close()
            except OSError:
                return False
            return True
        await_true(60, self.title, is_open)


class Agent(Program):
    """Latchkey. A message is a request of its own to the local API, or, if it has sensors, made of all their readings
    of a second."""

    reuses_log = True

    def __init__(self, ground, name, size, title, outbox, port, sensors="", is_enrolled=True):
        super().__init__(ground, name, size)
        self.title, self.is_given, self.is_enrolled = title, not sensors, is_enrolled
        self.kept = "each answered message" if outbox.get("durable", True) else "nothing"
        state = self.disk.folder / "state"
        state.mkdir(mode=0o700)
        self.board = ground.board(
            name, sensors, broker={"host": "localhost", "port": port}, agent={"state_directory": str(state)},
            outbox=outbox, telemetry={"enabled": bool(sensors)})

    def start(self):
        is_new = self.process is None
        self.board.start()
        self.process = self.board.process
        if is_new and self.is_enrolled:
            self.board.enroll()
        elif is_new:
            self.board.join()

    def accepted(self):
        return self.board.status("outbox", "accepted")

    def publish(self, numbers):
        waiting, faults = queue.SimpleQueue(), []
        for number in numbers:
            waiting.put(number)

        def work():
            connection = Connection(self.board.socket, 60)
            try:
                while True:
                    number = waiting.get_nowait()
                    connection.request("POST", "/v1/messages", json.dumps(
                        {"topic": TOPIC, "payload": payload(self.name, number, self.size)}))
                    answer = connection.getresponse()
                    said = answer.read()
                    if answer.status != 202:
                        raise BenchError(f"{self.title} did not accept: {answer.status} {said[:200]!r}")
                    self.answered.add(number)
            except queue.Empty:
                pass    # all are published
            except (OSError, HTTPException, BenchError) as error:
                faults.append(error)
            finally:
                connection.close()
        together(work, min(WIDTH, len(numbers)))
        if faults:
            raise BenchError(f"{self.title}: {faults[0]}")


def together(work, count):
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)


class Client(Onlooker):
    """Publishes at QoS 1, a few messages at a time, and says which were acknowledged."""

    def publish_each(self, payloads, acknowledged):
        payloads, under_way, sent = list(payloads), {}, 0
        while sent < len(payloads) or under_way:
            while sent < len(payloads) and len(under_way) < WIDTH:
                identifier = sent % 65535 + 1
                number, content = payloads[sent]
                self.socket.sendall(packet(0x32, text(TOPIC) + identifier.to_bytes(2, "big") + content.encode()))
                under_way[identifier] = number
                sent += 1
            piece = self.socket.recv(65536)
            if not piece:
                raise BenchError("the broker hung up")
            self.buffer += piece
            for kind, body in self.packets():
                if kind & 0xF0 == 0x40:
                    acknowledged(under_way.pop(int.from_bytes(body, "big")))


class Bridge(Program):
    """Mosquitto as the board's own broker, which passes everything on to the far one at QoS 1."""

    def __init__(self, ground, name, size, title, kept, saving, port):
        super().__init__(ground, name, size)
        self.title, self.kept = title, kept
        peer = ground.peer(name)
        self.port, self.client = free_port(), None
        store = self.disk.folder / "store"
        store.mkdir()
        self.configuration = ground.folder / f"{name}.conf"
        self.configuration.write_text("\n".join([
            f"listener {self.port} 127.0.0.1",
            "allow_anonymous true",
            "user root",
            "persistence true",
            f"persistence_location {store}/",
            # Neither drops messages that wait, nor changes what it would save by itself.
            *saving,
            "max_queued_messages 0",
            "sys_interval 0",
            "set_tcp_nodelay true",
            "log_dest stderr",
            "connection far",
            f"address localhost:{port}",
            f"topic {TOPIC} out 1",
            "cleansession false",
            "notifications false",
            f"remote_clientid {peer.client_id}",
            f"remote_username {peer.user}",
            f"remote_password {peer.password}",
            f"bridge_cafile {peer.folder}/ca.pem",
            f"bridge_certfile {peer.folder}/cert.pem",
            f"bridge_keyfile {peer.folder}/key.pem",
            "restart_timeout 1"
        ]) + "\n")

    def start(self):
        self.launch([BROKER, "-c", self.configuration], f"{self.name}.log")
        self.await_open(lambda: socket.create_connection(("127.0.0.1", self.port), timeout=5))
        self.client = Client(self.port)

    def publish(self, numbers):
        self.client.publish_each([(number, payload(self.name, number, self.size)) for number in numbers],
                                 self.answered.add)

    def kill(self):
        super().kill()
        if self.client:
            self.client.close()


class Collectd(Program):
    """collectd with its csv and mqtt plugins. A message is one PUTVAL of as many values as make up its size."""

    name, forwards_later = "collectd", False
    title = "collectd: csv and mqtt"
    kept = "nothing"

    def __init__(self, ground, size, port):
        super().__init__(ground, self.name, size)
        peer = ground.peer(self.name)
        self.values = max(1, (size - 24) // 8)
        self.socket = str(ground.folder / "collectd.sock")
        types = ground.folder / "types.db"
        types.write_text("message " + ", ".join(f"v{number}:GAUGE:U:U" for number in range(self.values + 1)) + "\n")
        self.configuration = ground.folder / "collectd-flash.conf"
        self.configuration.write_text(
            f'Hostname "bench"\nFQDNLookup false\nInterval 60\nBaseDir "{ground.folder}"\nTypesDB "{types}"\n'
            "LoadPlugin unixsock\nLoadPlugin csv\nLoadPlugin mqtt\n"
            f'<Plugin unixsock>\nSocketFile "{self.socket}"\nDeleteSocket true\n</Plugin>\n'
            f'<Plugin csv>\nDataDir "{self.disk.folder}/csv"\n</Plugin>\n'
            f'<Plugin mqtt>\n<Publish "bench">\nHost "localhost"\nPort {port}\nClientId "{peer.client_id}"\nUser '
            f'"{peer.user}"\n'
            f'Password "{peer.password}"\nQoS 1\nPrefix "{TOPIC}"\nCACert "{peer.folder}/ca.pem"\n'
            f'CertificateFile "{peer.folder}/cert.pem"\nCertificateKeyFile "{peer.folder}/key.pem"\nTLSProtocol '
            f'"tlsv1.2"\n'
            "</Publish>\n</Plugin>\n")

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(30)
        try:
            connection.connect(self.socket)
        except OSError:
            connection.close()
            raise
        return connection

    def start(self):
        self.launch([COLLECTD, "-f", "-C", self.configuration, "-P", self.ground.folder / "collectd-flash.pid"],
                    f"{self.name}.log")
        self.await_open(self.connect)

    def publish(self, numbers):
        with self.connect() as connection, connection.makefile("r") as answers:
            for number in numbers:
                values = ":".join([str(number), *["1234567"] * self.values])
                connection.sendall(f'PUTVAL "bench/flash/message" N:{values}\n'.encode())
                if not (answer := answers.readline()).startswith("0 "):
                    raise BenchError(f"collectd did not accept: {answer.strip()}")
                self.answered.add(number)


def knows(ground, setting):
    """Whether the program has a setting of the outbox, or refuses it as an unknown one."""
    settings = ground.folder / "known.toml"
    settings.write_text(f"[outbox]\n{setting} = 0\n")
    checked = subprocess.run([ground.latchkey, "config", "check", "--syntax-only", settings], check=False,
                             capture_output=True, timeout=60)
    return checked.returncode == 0


def all_programs(ground, size, port, known):
    """In the order of the tables; `known` has the settings of the agent with which it is measured a second time."""
    def agent(name, title, outbox, sensors="", is_enrolled=True):
        return Agent(ground, name, size, title, outbox, port, sensors, is_enrolled)
    found = [agent("agent", "latchkey", {}),
             agent("account", "latchkey, account at a broker", {}, is_enrolled=False)]
    if "spill_milliseconds" in known:
        found.append(agent("direct", "latchkey, spill_milliseconds = 0", {"spill_milliseconds": 0}))
    found.append(agent("memory", "latchkey, durable = false", {"durable": False}))
    found.append(agent("readings", "latchkey, its own readings", {}, SAMPLED))
    if "flush_seconds" in known:
        found.append(agent("flushing", "latchkey, its own readings, flush_seconds = 0", {"flush_seconds": 0}, SAMPLED))
    found.append(Bridge(ground, "bridge", size, "mosquitto bridge", "what it has saved: every 1800 s", [], port))
    found.append(Bridge(ground, "saving", size, "mosquitto bridge, saving each change",
                        "what it has saved: after each change, shortly after the answer",
                        ["autosave_on_changes true", "autosave_interval 1"], port))
    found.append(Collectd(ground, size, port))
    return found
