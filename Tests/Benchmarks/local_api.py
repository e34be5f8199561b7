"""The way to an agent's local API."""

import http.client
import socket


class Connection(http.client.HTTPConnection):
    """HTTP on a socket of the file system."""

    def __init__(self, path, timeout):
        super().__init__("latchkey", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)
