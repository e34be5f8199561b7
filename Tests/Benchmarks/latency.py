"""Latency: from the local API's publish to the broker's PUBACK, at 10 and at 1000 messages a second, beside the
broker's own round trip as mosquitto_rr sees it.
"""

import json
import re
import selectors
import socket
import subprocess
import time

from figures import Table, percentile
from ground import BenchError, await_true, say
from onlooker import Onlooker
from start import Watched

CONNECTIONS = 8


def add_options(parser):
    parser.add_argument("--seconds", type=float, default=10, help="how long each rate is kept (10)")
    parser.add_argument("--runs", type=int, default=30, help="round trips of mosquitto_rr (30)")


class Caller:
    """Requests on a few connections that are kept: each message as a program would publish it, a request of its own."""

    def __init__(self, path):
        self.selector, self.free, self.sent, self.accepted = selectors.DefaultSelector(), [], {}, {}
        for _ in range(CONNECTIONS):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, [b"", None])
            self.free.append(connection)

    def publish(self, number, topic):
        body = json.dumps({"topic": topic, "payload": f"{number:08d} " + "x" * 181}).encode()
        # The one that has rested longest: the daemon ends connections on which no request comes for 10 s.
        connection = self.free.pop(0)
        self.selector.get_key(connection).data[1] = number
        self.sent[number] = time.monotonic()
        connection.send(b"POST /v1/messages HTTP/1.1\r\nHost: latchkey\r\nContent-Length: %d\r\n\r\n" % len(body)
                        + body)

    def listen(self, seconds):
        for key, _ in self.selector.select(max(0, seconds)):
            key.data[0] += key.fileobj.recv(65536)
            head, mark, body = key.data[0].partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if mark and length and len(body) >= int(length[1]):
                if b" 202 " not in head.splitlines()[0]:
                    raise BenchError(f"the agent did not accept: {head[:60]!r} {body[:200]!r}")
                self.accepted[key.data[1]] = time.monotonic()
                key.data[0] = b""
                self.free.append(key.fileobj)

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()


def at_rate(board, watched, rate, seconds):
    """Seconds to the answer and to the PUBACK of each message."""
    caller, count = Caller(board.socket), int(rate * seconds)
    watched.forget()
    start = time.monotonic()
    for number in range(count):
        due = start + number / rate
        while time.monotonic() < due or not caller.free:
            caller.listen(due - time.monotonic() if caller.free else 1)
            if time.monotonic() > due + 10:
                raise BenchError(f"the agent does not keep up with {rate} messages a second")
        caller.publish(number, "bench/latency")
    end = time.monotonic() + 10
    while len(caller.accepted) < count and time.monotonic() < end:
        caller.listen(0.5)
    caller.close()
    board.await_drained(30)
    # The log comes through a pipe, which may be behind.
    await_true(20, f"the log of {count} acknowledgements", lambda: count <= sum(
        1 for _, line in list(watched.lines) if "Sending PUBACK" in line), 0.2)
    # In order, as there is one connection: the acknowledgement of a message follows it in the log under its identifier.
    acknowledged, under_way = [], {}
    for at, line in list(watched.lines):
        if (found := re.search(r"Received PUBLISH from .*, m(\d+), '.*bench/latency'", line)):
            under_way[found[1]] = at
        elif (found := re.search(r"Sending PUBACK to .* \(m(\d+)", line)) and under_way.pop(found[1], None):
            acknowledged.append(at)
    if len(acknowledged) != count:
        raise BenchError(f"the broker acknowledged {len(acknowledged)} of {count} messages")
    # Requests on several connections may be accepted in another order than they were sent: sorted, they still pair up.
    puback = [there - sent for sent, there in zip(sorted(caller.sent.values()), acknowledged)]
    return {"answer": [caller.accepted[n] - caller.sent[n] for n in range(count)], "puback": puback}


def round_trips(ground, watched, peer, runs):
    """From PUBLISH to PUBACK within mosquitto_rr, which prints both; an onlooker responds."""
    plain = Onlooker(watched.plain_port, "bench/request")
    found = []
    for _ in range(runs):
        seen = plain.count
        process = subprocess.Popen([
            "stdbuf", "-oL", "mosquitto_rr", *peer.options, "-V", "5", "-W", "5", "-d", "-q", "1", "-t",
            "bench/request", "-e", "bench/response", "-m", "x" * 190
        ], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        sent = None
        for line in process.stdout:
            if "sending PUBLISH" in line:
                sent = time.monotonic()
                plain.wait(seen + 1, 5)
                plain.publish_all("bench/response", [b"y"])
            elif "received PUBACK" in line and sent:
                found.append(time.monotonic() - sent)
        process.wait(10)
    plain.close()
    if not found:
        raise BenchError("mosquitto_rr told of no PUBACK")
    return found


def measure(ground, options):
    watched = Watched(ground, plain=True)
    board = ground.board("latency", broker={"port": watched.port}).start().enroll()
    peer = ground.peer("responder")
    peer.port = watched.port
    found = {}
    for rate in (10, 1000):
        found[str(rate)] = at_rate(board, watched, rate, options.seconds)
        say(f"latency at {rate} a second: median {percentile(found[str(rate)]['puback'], 0.5) * 1e3:.1f} ms")
    return {
        "seconds": options.seconds, "rates": found, "mosquitto_rr": round_trips(ground, watched, peer, options.runs)
    }


def tables(result):
    def both(values):
        return [f"{percentile(values, part) * 1e3:.2f}" for part in (0.5, 0.99)]
    rows = []
    for rate, at in result["rates"].items():
        rows.append(
            [f"{rate} messages a second: the agent's answer (the broker or the disk has it)", *both(at["answer"])])
        rows.append([f"{rate} messages a second: PUBACK at the broker", *both(at["puback"])])
    rows.append(["mosquitto_rr: PUBLISH to PUBACK, the broker alone", *both(result["mosquitto_rr"])])
    return [
        Table("Latency of a message through the local API", ["ms", "p50", "p99"], rows, [
            f"Each message is a request of its own, on {CONNECTIONS} connections that are kept; "
            f"{result['seconds']:g} s at each rate. mosquitto_rr: {len(result['mosquitto_rr'])} round trips, each on "
            "a new connection whose handshake does not count."
        ])
    ]
