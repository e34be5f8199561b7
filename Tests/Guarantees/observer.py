"""The observer: a client with a session of its own, directly at the broker, that writes down all that arrives.

It must not lose anything itself. At Mosquitto it speaks MQTT 5 with a receive maximum of 65535: a broker then writes
each message to it before it acknowledges it to the publisher, however many are under way. It connects again by itself.
"""

import collections
import itertools
import socket
import threading
import time

from onlooker import packet, text


def number_at(body, place):
    """A variable byte integer, and where it ends."""
    value = shift = 0
    while True:
        byte = body[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


class Observer:
    def __init__(self, port, topic, version):
        self.port, self.topic, self.version = port, topic, version
        # Unique, as a broker with its store knows the sessions of earlier campaigns.
        self.name = f"observer-{time.monotonic_ns()}"
        self.arrivals, self.count, self.last = collections.defaultdict(list), 0, time.monotonic()
        self.changed = threading.Condition()
        # Identifiers of QoS 2 that are written down, and not yet released: a repetition counts once.
        self.taken = set()
        self.is_subscribed, self.is_over, self.connections = False, False, itertools.count(1)
        self.socket, self.buffer = None, bytearray()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def await_subscribed(self, seconds):
        """Whether it has a connection now, and the subscription on it."""
        with self.changed:
            return self.changed.wait_for(lambda: self.is_subscribed, seconds)

    def await_lost(self, seconds):
        with self.changed:
            return self.changed.wait_for(lambda: not self.is_subscribed, seconds)

    def await_payload(self, topic, payload, seconds):
        with self.changed:
            return self.changed.wait_for(lambda: payload in self.arrivals[topic], seconds)

    def await_quiet(self, seconds, limit):
        """Waits until nothing has come for so long."""
        end = time.monotonic() + limit
        with self.changed:
            while (left := self.last + seconds - time.monotonic()) > 0 and time.monotonic() < end:
                self.changed.wait(left)

    def close(self):
        self.is_over = True
        try:
            if self.socket:
                self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(10)

    # -- the thread

    def work(self):
        while not self.is_over:
            try:
                self.connect()
                self.read()
            except OSError:
                pass
            finally:
                if self.socket:
                    self.socket.close()
            with self.changed:
                self.is_subscribed = False
                self.changed.notify_all()
            # Nothing tells when a broker listens again.
            time.sleep(0.05)

    def connect(self):
        self.buffer.clear()
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        # The session stays: no clean start, and in MQTT 5 it never expires.
        properties = bytes([8]) + b"\x11\xff\xff\xff\xff" + b"\x21\xff\xff" if self.version == 5 else b""
        self.socket.sendall(packet(0x10, text("MQTT") + bytes([self.version, 0xC0, 0, 0]) + properties
                                   + text(self.name) + text("observer") + text("observer")))
        self.socket.settimeout(None)

    def read(self):
        while piece := self.socket.recv(262_144):
            self.buffer += piece
            answers = bytearray()
            with self.changed:
                for head, body in self.packets():
                    answers += self.take(head, body)
                self.changed.notify_all()
            if answers:
                self.socket.sendall(answers)

    def packets(self):
        """Takes what is complete out of the buffer."""
        buffer, place, found = self.buffer, 0, []
        while len(buffer) - place >= 5 or len(buffer) - place >= 2 and buffer[place + 1] < 128:
            length, start = number_at(buffer, place + 1)
            if start + length > len(buffer):
                break
            found.append((buffer[place], bytes(buffer[start:start + length])))
            place = start + length
        del buffer[:place]
        return found

    def take(self, head, body):
        """Writes down, and returns what is to be answered."""
        kind = head >> 4
        if kind == 2:
            if body[1]:
                raise OSError(f"the broker refused the observer: {body[1]}")
            if not body[0] & 1:
                self.taken.clear()
            return packet(0x82, b"\0\1" + (b"\0" if self.version == 5 else b"") + text(self.topic) + b"\2")
        if kind == 9:
            self.is_subscribed = True
        if kind == 6:
            self.taken.discard(body[:2])
            return packet(0x70, body[:2])
        return self.message(head, body) if kind == 3 else b""

    def message(self, head, body):
        qos = head >> 1 & 3
        end = 2 + int.from_bytes(body[:2])
        topic, place, identifier = body[2:end].decode(), end, b""
        if qos:
            identifier, place = body[end:end + 2], end + 2
        if self.version == 5:
            length, place = number_at(body, place)
            place += length
        if qos < 2 or identifier not in self.taken:
            self.arrivals[topic].append(body[place:])
            self.count, self.last = self.count + 1, time.monotonic()
        if qos == 2:
            self.taken.add(identifier)
        return packet(0x50 if qos == 2 else 0x40, identifier) if qos else b""
