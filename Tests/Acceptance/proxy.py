"""Speaks to the forward proxy as programs do that mean well, and as some do that do not.

    proxy.py storm SOCKET COUNT      COUNT requests on 16 connections at once; each must succeed
    proxy.py hostile SOCKET          what must be refused, each with its status
    proxy.py keep SOCKET PIPE USER GROUP
                                     as this user: a request, waits for a line in a named pipe, a second request on the
                                     same connection; prints both statuses
    proxy.py download SOCKET PIPE USER GROUP
                                     as this user: begins a download, reads no further until there is a line in a named
                                     pipe, then reads the rest; prints "begun", and then "complete" or "broken"
"""
import http.client
import os
import re
import socket
import sys
import threading

kind, path = sys.argv[1:3]
if len(sys.argv) == 6:
    # Here, as other users may not be able to read this interpreter's files.
    os.setgroups([int(sys.argv[5])])
    os.setresgid(*3 * [int(sys.argv[4])])
    os.setresuid(*3 * [int(sys.argv[4])])


class Proxy(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("gateway", timeout=150)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(150)
        self.sock.connect(path)


def storm(count):
    faults = []

    def work(requests):
        try:
            proxy = Proxy()
            for _ in range(requests):
                proxy.request("GET", "/lab/hello")
                answer = proxy.getresponse()
                text = answer.read()
                if answer.status != 200 or b"Hello" not in text:
                    faults.append((answer.status, text))
        except (OSError, http.client.HTTPException) as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(count // 16,)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        sys.exit(f"{len(faults)} failed, such as {faults[0]}")


def raw(data):
    """- Returns: the statuses of all answers to these bytes, up to the end of the connection."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(150)
    connection.connect(path)
    answer = b""
    try:
        connection.sendall(data)
        while piece := connection.recv(65536):
            answer += piece
    except ConnectionError:
        pass
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]


def hostile():
    get = "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n"
    # Where it follows, it must be taken for a request only if it is one.
    second = b"GET /lab/hello HTTP/1.1\r\nHost: gateway\r\n\r\n"
    last = b"GET /lab/hello HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n"
    cases = [
        ("a tunnel", b"CONNECT gateway:443 HTTP/1.1\r\nHost: gateway:443\r\n\r\n", 405),
        ("a trace", b"TRACE /lab/hello HTTP/1.1\r\nHost: gateway\r\n\r\n", 405),
        ("two hosts", b"GET /lab/hello HTTP/1.1\r\nHost: gateway\r\nHost: api.example\r\n\r\n", 400),
        ("a user in the address", get % ("http://user@gateway/lab/hello", "gateway"), 400),
        ("another scheme", get % ("ftp://gateway/lab/hello", "gateway"), 400),
        ("a path that leads elsewhere", get % ("/lab/../connect/device/remove", "gateway"), 400),
        ("the same in disguise", get % ("/lab/%2e%2e/connect/device/remove", "gateway"), 400),
        ("an encoded slash", get % ("/lab%2fhello", "gateway"), 400),
        ("dots with parameters", get % ("/lab/..;/connect/device/remove", "gateway"), 400),
        ("dots that are encoded twice", get % ("/lab/%252e%252e/connect/device/remove", "gateway"), 400),
        ("a second slash", get % ("//connect/device/remove", "gateway"), 400),
        ("the endpoint that ends the registration", b"DELETE /connect/device/remove HTTP/1.1\r\nHost: gateway\r\n\r\n",
         403),
        ("the same in capitals", b"DELETE /Connect/Device/Remove;x HTTP/1.1\r\nHost: gateway\r\n\r\n", 403),
        ("the endpoint for tokens", b"POST /auth/oauth/v2/token HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\n\r\n",
         403),
        ("a host that nobody configured", get % ("/", "api.example"), 400),
        ("an account that is not there", get % ("/lab/hello", "other.gateway"), 404),
        ("a length and chunks",
         b"POST /lab/echo HTTP/1.1\r\nHost: gateway\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
         + second, 400),
        ("two lengths",
         b"POST /lab/echo HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\nContent-Length: 30\r\n\r\n" + second, 400),
        ("chunks in HTTP/1.0",
         b"POST /lab/echo HTTP/1.0\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + second, 400),
        ("another coding",
         b"POST /lab/echo HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + second,
         400),
        ("a second request in the body of a refused one",
         b"DELETE /lab/%%2e%%2e/x HTTP/1.1\r\nHost: gateway\r\nContent-Length: %d\r\n\r\n" % len(second) + second, 400),
        ("a blank before the colon", b"GET /lab/hello HTTP/1.1\r\nHost: gateway\r\nX-A : b\r\n\r\n", 400),
        ("a head that is too large", b"GET /lab/hello HTTP/1.1\r\nHost: gateway\r\nX-A: " + b"a" * 40000 + b"\r\n\r\n",
         431),
    ]
    # A server that must never hear of anything: no grant and no settings name it.
    foreign = socket.create_server(("127.0.0.1", 0))
    foreign.setblocking(False)
    address = f"127.0.0.1:{foreign.getsockname()[1]}"
    cases += [
        ("a foreign host", get % ("/", address), 400),
        ("a foreign host in the address", get % (f"http://{address}/", "gateway"), 400),
        ("a foreign host after a user", get % (f"http://gateway@{address}/", "gateway"), 400),
        ("a foreign host before the path", get % (f"//{address}/", "gateway"), 400),
        ("a foreign host as a port", get % ("/", f"gateway:80@{address}"), 400),
        ("a foreign host as an account", get % ("/", f"{address}.gateway"), 400),
    ]
    faults = 0
    for name, data, wanted in cases:
        data = data.encode() if isinstance(data, str) else data
        statuses = raw(data + last)
        if statuses != [wanted] and (second in data or statuses != [wanted, 200]):
            print(f"{name}: {statuses} in place of {wanted}")
            faults += 1
    try:
        foreign.accept()
        print("the foreign host was called")
        faults += 1
    except BlockingIOError:
        pass
    # One answer for each of two requests that come at once.
    if raw(second + last) != [200, 200]:
        print("two requests at once do not get an answer each:", raw(second + last))
        faults += 1
    sys.exit(1 if faults else 0)


def wait_for_line(pipe):
    with open(pipe) as lines:
        lines.readline()


def keep(pipe):
    proxy = Proxy()
    for number in (1, 2):
        proxy.request("GET", "/lab/hello")
        answer = proxy.getresponse()
        answer.read()
        print(answer.status, "open" if proxy.sock else "closed", flush=True)
        if number == 1:
            wait_for_line(pipe)


def download(pipe):
    proxy = Proxy()
    proxy.request("GET", "/lab/file/4000000")
    answer = proxy.getresponse()
    answer.read(1)
    print("begun", flush=True)
    wait_for_line(pipe)
    try:
        answer.read()
        print("complete", flush=True)
    except (http.client.IncompleteRead, ConnectionError):
        print("broken", flush=True)


if kind == "storm":
    storm(int(sys.argv[3]))
elif kind == "hostile":
    hostile()
elif kind == "download":
    download(sys.argv[3])
else:
    keep(sys.argv[3])
