"""A server that behaves as the path asks it to. Prints `port N` when ready and what it sees, one line each.

Ends when the process that started it does, so that it never outlives its test.
"""
import argparse
import contextlib
import itertools
import json
import os
import select
import signal
import socket
import socketserver
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

connections = itertools.count(1)


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        self.connection_number = next(connections)
        if tls is not None:
            self.request = tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def handle(self):
        with contextlib.suppress(OSError):
            super().handle()

    def log_message(self, *_):
        pass

    def address_string(self):
        return "client"

    def certificate(self):
        found = self.request.getpeercert() if tls is not None else None
        return dict(part[0] for part in found["subject"]).get("commonName") if found else None

    def answer(self):
        parts = urlsplit(self.path)
        self.query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        getattr(self, "answer_" + parts.path.strip("/"))()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer

    def reply(self, body, status=200, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def chunk(self, body):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        self.wfile.flush()

    def begin_chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def answer_echo(self):
        """What the server saw."""
        self.reply(json.dumps({
            "connection": self.connection_number, "certificate": self.certificate(), "method": self.command,
            "path": self.path, "headers": self.headers.items(), "body": self.content.decode()}).encode())

    def answer_status(self):
        self.reply(b"", int(self.query["code"]), [("Location", "/echo")])

    def answer_repeated(self):
        self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        self.reply(b"", headers=[("X-Part", "one"), ("x-part", "two\r\n  folded"), ("X-Empty", "")])

    def answer_large(self):
        self.reply(b"x" * int(self.query["bytes"]))

    def answer_endless(self):
        self.begin_chunks()
        sent = 0
        try:
            while True:
                self.chunk(b"x" * 65536)
                sent += 65536
        except OSError:
            say(f"closed after {sent}")

    def answer_fields(self):
        value = "v" * int(self.query.get("bytes", 0))
        self.reply(b"", headers=[(f"X-{number}", value) for number in range(int(self.query["count"]))])

    def answer_silence(self):
        say("asked")
        while self.request.recv(1024):
            pass
        say("left")

    def answer_cut(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
        self.close_connection = True

    def answer_garbage(self):
        self.wfile.write(b"\x00\x01\x02 not http\r\n\r\n")
        self.close_connection = True

    def answer_events(self):
        """A chunk for each line of standard input, until `end`."""
        self.begin_chunks()
        for line in iter(sys.stdin.readline, ""):
            if line == "end\n":
                break
            self.chunk(line.encode())
        self.chunk(b"")


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 64
    allow_reuse_address = True

    def handle_error(self, *_):
        say(f"refused {sys.exc_info()[1]}")


class UnixServer(Server):
    address_family = socket.AF_UNIX

    def get_request(self):
        connection, _ = self.socket.accept()
        return connection, ("client", 0)


class Mute(socketserver.BaseRequestHandler):
    """Accepts and says nothing."""

    def handle(self):
        while self.request.recv(1024):
            pass
        say("left")


def end_with_parent():
    # Not by the end of standard input: servers started at the same time inherit each other's pipes.
    select.select([os.pidfd_open(os.getppid())], [], [])
    os._exit(0)


arguments = argparse.ArgumentParser()
arguments.add_argument("--unix")
arguments.add_argument("--mute", action="store_true")
arguments.add_argument("--certificate")
arguments.add_argument("--client-ca")
arguments.add_argument("--client-required", action="store_true")
arguments = arguments.parse_args()

tls = None
if arguments.certificate:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(arguments.certificate)
    if arguments.client_ca:
        tls.load_verify_locations(arguments.client_ca)
        tls.verify_mode = ssl.CERT_REQUIRED if arguments.client_required else ssl.CERT_OPTIONAL

# Threads of Dispatch block signals, and what they start inherits that.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
threading.Thread(target=end_with_parent, daemon=True).start()
handler = Mute if arguments.mute else Handler
server = UnixServer(arguments.unix, handler) if arguments.unix else Server(("127.0.0.1", 0), handler)
say(f"port {0 if arguments.unix else server.server_address[1]}")
server.serve_forever()
