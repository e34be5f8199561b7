"""Start: from exec to READY=1, and to the first PUBACK of a registered board, beside mosquitto_pub over the same mutual
TLS."""

import os
import re
import socket
import subprocess
import threading
import time

from figures import Table, cpu_seconds, median, run, spread, verdict
from ground import BROKER, BenchError, await_true, free_port, say

SENSOR = '[[sensor]]\nname = "system.load"\nsource = "system"\nchannel = "load"\nperiod-s = 1\n'


def add_options(parser):
    parser.add_argument("--runs", type=int, default=15, help="starts of each, in turn (15)")


class Watched:
    """A broker like the ground's that tells of every packet: the one clock for all that connect."""

    def __init__(self, ground, plain=False):
        configuration = ground.folder / "watched.conf"
        port = free_port()
        text = (ground.folder / "mosquitto.conf").read_text()
        # The port without TLS is for an observer, where there is one.
        self.plain_port = free_port() if plain else None
        text = text.replace(f"listener {ground.plain_port} 127.0.0.1\nallow_anonymous true\n",
                            f"listener {self.plain_port} 127.0.0.1\nallow_anonymous true\n" if plain else "")
        text = text.replace(f"listener {ground.broker_port} ", f"listener {port} ")
        configuration.write_text(text.replace("log_type error\n", "log_type all\n"))
        self.port, self.lines, self.changed = port, [], threading.Condition()
        self.process = subprocess.Popen([BROKER, "-c", configuration], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                        text=True)
        ground.processes.append(self.process)
        threading.Thread(target=self.read, daemon=True).start()
        await_true(10, "the watched broker", lambda: any("running" in line for _, line in self.lines))

    def read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append((time.monotonic(), line))
                self.changed.notify_all()

    def forget(self):
        with self.changed:
            self.lines.clear()

    def when(self, pattern, seconds=20, after=0.0):
        """When the first line came that fits."""
        def first():
            return next((at for at, line in self.lines if at >= after and re.search(pattern, line)), None)
        with self.changed:
            if not self.changed.wait_for(lambda: first() is not None, seconds):
                raise BenchError(f"the broker did not tell of {pattern}; its last words: "
                                 + "".join(line for _, line in self.lines[-5:]))
            return first()


def start_agent(ground, board, watched, enrolled):
    path = str(ground.folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.settimeout(20)
        watched.forget()
        start = time.monotonic()
        board.process = subprocess.Popen(
            [ground.latchkey, "run", "--config", board.settings], stdin=subprocess.DEVNULL, stderr=board.log,
            env={**os.environ, "NOTIFY_SOCKET": path})
        while b"READY=1" not in notify.recv(4096):
            pass
        ready = time.monotonic()
        os.unlink(path)
    times = {
        "ready": ready - start, "connection": watched.when("New connection from") - start,
        "connect": watched.when("New client connected|Sending CONNACK") - start,
        "puback": watched.when("Sending PUBACK") - start,
    }
    message = watched.when(r"Received PUBLISH .*custom/telemetry'")
    times["reading"] = watched.when("Sending PUBACK", after=message) - start
    age = board.status("token", "age")
    times["fetched"] = age is None or age + 1 < time.monotonic() - enrolled
    times["cpu"] = cpu_seconds(board.process.pid)
    board.stop()
    return times


def measure(ground, options):
    watched = Watched(ground)
    board = ground.board("starting", SENSOR, telemetry={"enabled": True},
                         broker={"port": watched.port}).start().enroll()
    peer = ground.peer("starter")
    peer.port = watched.port
    enrolled = time.monotonic()
    board.stop()
    agent, pub = [], []
    words = ["mosquitto_pub", *peer.options, "-t", "bench/start", "-q", "1", "-m", "x" * 190]
    for number in range(options.runs):
        agent.append(start_agent(ground, board, watched, enrolled))
        agent[-1]["alone"] = run([ground.latchkey, "--version"], stdout=subprocess.DEVNULL).wall
        watched.forget()
        start = time.monotonic()
        ended = run(words)
        if ended.status:
            raise BenchError(f"mosquitto_pub ended with {ended.status}")
        alone = run(["mosquitto_pub", "--help"], stdout=subprocess.DEVNULL).wall
        pub.append({"alone": alone, "connection": watched.when("New connection from") - start,
                    "connect": watched.when("Sending CONNACK") - start,
                    "puback": watched.when("Sending PUBACK") - start, "cpu": ended.cpu})
        say(f"start {number + 1}/{options.runs}: READY {agent[-1]['ready'] * 1e3:.0f} ms, PUBACK "
            f"{agent[-1]['puback'] * 1e3:.0f} ms; mosquitto_pub {pub[-1]['puback'] * 1e3:.0f} ms")
    return {"runs": options.runs, "latchkey": agent, "mosquitto_pub": pub}


def tables(result):
    def milliseconds(name, part):
        values = [one[part] * 1e3 for one in result[name] if part in one]
        return spread(values, 1) if values else "–"
    parts = [("the program alone: --version, --help", "alone"), ("READY=1", "ready"),
             ("TCP connection at the broker", "connection"), ("CONNACK: TLS and CONNECT done", "connect"),
             ("first PUBACK", "puback"), ("PUBACK of the first reading", "reading"), ("CPU until then", "cpu")]
    rows = [[text, milliseconds("latchkey", part), milliseconds("mosquitto_pub", part)] for text, part in parts]
    ready = median([one["ready"] for one in result["latchkey"]]) * 1e3
    ours, theirs = (median([one["puback"] for one in result[name]]) for name in ("latchkey", "mosquitto_pub"))
    rest = median([one["puback"] - one["connection"] for one in result["mosquitto_pub"]]) * 1e3
    notes = [
        "READY=1 comes after " + verdict(ready, 100, "ms", 0) + ". The first PUBACK comes after "
        + verdict(ours / theirs, 1.3, "times mosquitto_pub's")
        + f". To meet it with mosquitto_pub's {rest:.1f} ms for TLS, CONNECT and "
        f"PUBLISH, the agent would have to connect {max(0, 1.3 * theirs * 1e3 - rest):.1f} ms after exec.",
        f"Milliseconds from exec, median (least to greatest) of {result['runs']} starts of each, in turn; a broker "
        "that logs every packet is the clock of both. The first PUBACK of the agent is that of its presence. The "
        "token of an earlier start is kept in the sealed store and shown again while it is valid: "
        f"{sum(one['fetched'] for one in result['latchkey'])} of these starts asked the gateway for one.",
    ]
    return [Table("From exec to the first message", ["ms", "latchkey run", "mosquitto_pub -q 1"], rows, notes)]
