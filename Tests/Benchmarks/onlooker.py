"""A client of MQTT 3.1.1 without TLS, for the broker's second port: it sees what arrives, the same way for all that
publish."""

import contextlib
import socket
import struct
import threading
import time


def text(value):
    data = value.encode()
    return struct.pack(">H", len(data)) + data


def packet(kind, body):
    length, left = b"", len(body)
    while True:
        left, low = divmod(left, 128)
        length += bytes([low | (128 if left else 0)])
        if not left:
            return bytes([kind]) + length + body


class Onlooker:
    """Subscribes at once; `wait` ends when so many messages have come."""

    def __init__(self, port, topic=None, keep=True):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        self.keep, self.seen, self.times, self.count = keep, [], [], 0
        self.changed = threading.Condition()
        self.socket.sendall(
            packet(0x10,
                   text("MQTT") + bytes([4, 2, 0, 0]) + text(f"onlooker-{id(self)}-{time.monotonic_ns()}")))
        self.expect(0x20)
        if topic:
            self.socket.sendall(packet(0x82, b"\0\1" + text(topic) + b"\0"))
            self.expect(0x90)
            threading.Thread(target=self.read, daemon=True).start()

    def publish_all(self, topic, payloads, qos=0):
        """Without waiting for acknowledgements, which `read` takes and drops."""
        named = text(topic) + (b"\0\1" if qos else b"")
        self.socket.sendall(b"".join(packet(0x30 | qos << 1, named + payload) for payload in payloads))

    def packets(self):
        """Takes what is complete out of the buffer."""
        buffer, place, found = self.buffer, 0, []
        while place + 1 < len(buffer):
            length, shift, at = 0, 0, place + 1
            while at < len(buffer):
                byte = buffer[at]
                length |= (byte & 127) << shift
                shift, at = shift + 7, at + 1
                if byte < 128:
                    break
            else:
                break
            if at + length > len(buffer):
                break
            found.append((buffer[place], bytes(buffer[at:at + length])))
            place = at + length
        del buffer[:place]
        return found

    def expect(self, kind):
        while True:
            for found, _ in self.packets():
                if found & 0xF0 == kind:
                    return
            piece = self.socket.recv(65536)
            if not piece:
                raise ConnectionError("the broker hung up")
            self.buffer += piece

    def read(self):
        try:
            self.socket.settimeout(None)
            while piece := self.socket.recv(262_144):
                now = time.monotonic()
                self.buffer += piece
                fresh = [body for kind, body in self.packets() if kind & 0xF0 == 0x30]
                with self.changed:
                    self.count += len(fresh)
                    self.times += [now] * len(fresh)
                    if self.keep:
                        self.seen += [body[2 + int.from_bytes(body[:2]):] for body in fresh]
                    self.changed.notify_all()
        except OSError:
            pass    # closed

    def wait(self, count, seconds):
        """When message number `count` came; None if it did not."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.count >= count, seconds):
                return None
            return self.times[count - 1]

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
