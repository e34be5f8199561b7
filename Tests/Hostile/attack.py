"""Attacks the local API of a running daemon, one kind of attack each, and says what answered wrongly.

    attack.py SOCKET KIND [USER]

Ends with 0 and a line of figures when every answer was as it has to be. As USER, where one is given.
"""
import contextlib
import json
import os
import pwd
import random
import re
import resource
import socket
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

path, kind = sys.argv[1], sys.argv[2]
if len(sys.argv) > 3:
    user = pwd.getpwnam(sys.argv[3])
    os.setgroups([])
    # The group that may connect, but for whoever stands outside.
    os.setgid(user.pw_gid if kind == "outsider" else pwd.getpwnam("nobody").pw_gid)
    os.setuid(user.pw_uid)

random.seed(1)
faults, counts = [], {}
lock = threading.Lock()


def note(what):
    with lock:
        counts[what] = counts.get(what, 0) + 1


def fault(text):
    with lock:
        faults.append(text)


def connect(limit=150):
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(limit)
    while True:
        try:
            made.connect(path)
            return made
        except BlockingIOError:
            # The backlog is full: a client that means well waits its turn.
            time.sleep(0.01)


def read(stream):
    """Everything until the server closes; a reset is an end too."""
    got = b""
    try:
        while piece := stream.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    return got


class Answer:
    def __init__(self, raw):
        self.raw = raw
        head, _, self.body = raw.partition(b"\r\n\r\n")
        self.status = int(head.split()[1]) if re.match(rb"HTTP/1\.[01] \d{3}", head) else 0
        try:
            self.json = json.loads(self.body)
        except ValueError:
            self.json = None

    @property
    def code(self):
        try:
            return self.json["error"]["code"]
        except (TypeError, KeyError):
            return None


def send(raw, half_close=False):
    """With `half_close` it says at once that nothing will follow, which ends what the server would wait for.
    libmicrohttpd may then hang up without the answer."""
    stream = connect()
    try:
        stream.sendall(raw)
        if half_close:
            stream.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        pass
    answer = Answer(read(stream))
    stream.close()
    return answer


def request(method, target, body=b"", headers=()):
    head = [
        b"%s %s HTTP/1.1" % (method.encode(), target if isinstance(target, bytes) else target.encode()),
        b"Host: localhost", b"Connection: close"
    ]
    head += [h if isinstance(h, bytes) else h.encode() for h in headers]
    if body:
        head.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def at_once(work, items):
    """As many at a time as one user may have requests under way, with some room for others."""
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, items))


def expect(answer, what, statuses, has_code=True):
    """One of these statuses, with an error in the form that all errors have; libmicrohttpd's own answers have none."""
    if answer.status not in statuses:
        fault(f"{what}: {answer.raw[:200]!r}")
    elif has_code and answer.status >= 400 and not answer.code:
        fault(f"{what}: no code in {answer.raw[:200]!r}")
    note(answer.status)


def is_served(limit):
    began = time.monotonic()
    answer = send(request("GET", "/v1/version"))
    took = time.monotonic() - began
    if answer.status != 200 or took > limit:
        fault(f"another request: {answer.status} after {took:.1f} s")


REFUSED = {400, 404, 405, 413, 414, 417, 431, 501, 505}


# --- Peers


def peers():
    """A user that nothing is granted to; one that the socket's group keeps out altogether gets no connection at all."""
    for method, target in [("GET", "/v1/status"), ("POST", "/v1/messages"), ("GET", "/v1/token"), ("POST", "/v1/call"),
                           ("GET", "/v1/events"), ("POST", "/v1/login"), ("POST", "/v1/reset"),
                           ("DELETE", "/v1/proximity/sharing"), ("GET", "/v1/openapi.json")]:
        # Whether a call is granted depends on what it asks for: it has to be one.
        body = b'{"method":"GET","path":"/"}' if target == "/v1/call" else b'{"a":1}'
        answer = send(request(method, target, body if method == "POST" else b""))
        expect(answer, f"{method} {target}", {403})
        if answer.code != "local-api.access-denied":
            fault(f"{method} {target}: {answer.code}")


def outsider():
    try:
        connect()
        fault("connected")
    except PermissionError:
        note("EACCES")


# --- Heads, paths and methods


def paths():
    tricks = [
        "/v1/../v1/status", "/v1/./status", "/v1/status/..", "/../../etc/passwd", "/v1/%2e%2e/status", "/v1%2fstatus",
        "/v1/%00status", "/v1/status%00", "//v1/status", "/v1//status", "/v1/status/", "/v1/status%", "/v1/status%4",
        "/v1/status%zz", "/V1/STATUS", "/v1/stat%75s%20", "/v1/status?", "/v1/status?a", "/v1/status?a=b&a=c",
        "/v1/status?%00=1", "/v1/status?%ff=1", "/v1/messages?qos=1&qos=2", "/v1/status;a=b", "/v1/status#x",
        "\\v1\\status", "/v1\\status", "http://localhost/v1/status", "https://evil.test/v1/status",
        "http://user@localhost/v1/status", "localhost:80", "*", "/v1/proximity/consents/-1",
        "/v1/proximity/consents/99999999999999999999", "/v1/proximity/consents/%2e%2e",
        "/v1/login/browser/" + "a" * 8000, "/v1/" + "%61" * 2000, "/v1/" + "a/" * 5000, "/v1/%c0%ae%c0%ae/status",
        "/v1/%f0%28%8c%28"
    ]
    for target in tricks:
        for method in ("GET", "POST"):
            answer = send(request(method, target, b"{}" if method == "POST" else b""))
            # What names a resource that is there is no trick: the empty query, and the escaped letter without more.
            fine = target == "/v1/status?" and method == "GET"
            expect(answer, f"{method} {target[:60]}", {200} if fine else REFUSED | {403}, has_code=False)
    for raw in (b"/v1/\x00status", b"/v1/st\xe4tus", b"/v1/\xff\xfe", b"/v1/status\x7f", b"/v1/sta\ttus", b"/v1/s\x01"):
        expect(send(request("GET", raw)), repr(raw), REFUSED | {0}, has_code=False)
    for count in (16_000, 17_000, 100_000, 1_000_000, 8_000_000):
        expect(send(request("GET", "/v1/" + "a" * count)), f"path of {count}", REFUSED, has_code=False)


def heads():
    good = b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    methods = [
        "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "GETT", "G" * 5000, "PRI", "M-SEARCH",
        "\x01"
    ]
    at_once(
        lambda method: expect(send(request(method, "/v1/version")), method[:20], {200}
                              if method == "HEAD" else REFUSED | {0}, has_code=False), methods)
    extras = [
        b"X: " + b"a" * 17_000, b"X" * 17_000 + b": a", b"\r\n".join(b"X-%d: a" % n for n in range(5000)),
        b"X: " + b"a" * 10_000_000, b"X: " * 6000, b"Cookie: " + b"a=b; " * 5000
    ]
    at_once(lambda extra: expect(send(good + extra + b"\r\n\r\n"), repr(extra[:20]), REFUSED, has_code=False), extras)

    def refuse(broken):
        answer = send(good + broken, half_close=True)
        # Some servers take some of these for one header more; what counts is that no body and no second request comes
        # of it.
        expect(answer, repr(broken), REFUSED | {0, 200}, has_code=False)
        if len(re.findall(rb"HTTP/1\.[01] 2", answer.raw)) > 1:
            fault(f"{broken!r}: two answers")

    at_once(refuse, [
        b"NoColon\r\n\r\n", b": no name\r\n\r\n", b"Bad Name: x\r\n\r\n", b"X : y\r\n\r\n", b"X: a\x00b\r\n\r\n",
        b" folded\r\n\r\n", b"X: a\rb\r\n\r\n", b"Host: other\r\n\r\n", b"Content-Length: x\r\n\r\n",
        b"Content-Length: -5\r\n\r\n", b"Content-Length: +5\r\n\r\n", b"Content-Length: 0x10\r\n\r\n",
        b"Content-Length: 99999999999999999999999\r\n\r\n", b"Transfer-Encoding: gzip\r\n\r\n",
        b"Expect: the-unexpected\r\n\r\n",
        b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
    ])
    at_once(lambda raw: expect(send(raw, half_close=True), repr(raw[:30]), REFUSED | {0, 408}, has_code=False), [
        b"GET /v1/version\r\n\r\n", b"GET /v1/version HTTP/0.9\r\n\r\n", b"GET /v1/version HTTP/1.1\r\n\r\n",
        b"GET /v1/version HTTP/2.0\r\nHost: a\r\n\r\n", b"GET /v1/version HTTP/9.9\r\nHost: a\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00", b"\r\n" * 5000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500), b"\x00" * 5000,
        os.urandom(20_000), b"GET", b"GET /v1/version HTTP/1.1", b"GET  /v1/version  HTTP/1.1\r\nHost: a\r\n\r\n",
        b"SSH-2.0-x\r\n", b"*1\r\n$4\r\nPING\r\n"
    ])
    is_served(150)


# --- Bodies


ROUTES = [
    ("POST", "/v1/enrollments", {"configuration": {"server": {"hostname": "localhost"}}, "register": False}),
    ("POST", "/v1/call", {
        "method": "GET", "path": "/lab/hello", "headers": [{"name": "x", "value": "y"}], "body": "aGVsbG8="
    }),
    ("POST", "/v1/login", {"userName": "alice", "password": "secret"}),
    ("POST", "/v1/login/nearby", {"by": "qr"}),
    ("POST", "/v1/login/prompted", {"userName": "alice", "answerers": "operators"}),
    ("POST", "/v1/prompts/7", {"text": "secret", "choice": "a", "grant": True, "refuse": True, "program": "pin-pad"}),
    ("POST", "/v1/login/browser/none", {"answer": "https://a.test/?code=1&state=2"}),
    ("POST", "/v1/logout", {"force": False}),
    ("POST", "/v1/proximity/sharing", {"seconds": 60}),
    ("POST", "/v1/proximity/authorizations", {"text": "x", "name": "phone"}),
    ("POST", "/v1/proximity/consents/7", {"grant": True, "program": "pin-pad"}),
    ("POST", "/v1/messages", {
        "topic": "door", "payload": "open", "encoding": "text", "qos": 1, "retain": False, "raw": False
    }),
    ("POST", "/v1/send", {
        "user": "bob", "topic": "messages", "payload": "aGVsbG8=", "encoding": "base64", "contentType": "text/plain"
    }),
    ("POST", "/v1/board/button", {"pressed": True}),
]
WRONG = [
    b"null", b"true", b"0", b"-1", b"1e400", b"1" * 400, b"0.5", b'""', b'"\\ud800"', b'"\\udc00\\ud800"',
    b'"\xff\xfe"', b'"\xed\xa0\x80"', b'"a\\u0000b"', b"[]", b"{}", b"[" * 3000, b"[" * 3000 + b"]" * 3000,
    b'{"a":' * 2000 + b"1" + b"}" * 2000, b'"' + b"a" * 200_000 + b'"', b"NaN", b"'x'", b"01", b"\\", b'"\x01"',
    b"/**/1"
]


def damaged(valid):
    """The body with each of its positions damaged."""
    text = json.dumps(valid).encode()
    yield b""
    for end in range(1, len(text), 2):
        yield text[:end]
    for index in range(len(text)):
        yield text[:index] + bytes([text[index] ^ 0x80]) + text[index + 1:]
        if index % 3 == 0:
            yield text[:index] + bytes([random.randrange(256)]) + text[index + 1:]
            yield text[:index] + b"\x00" + text[index:]
    for name in valid:
        member = json.dumps(name).encode() + b": " + json.dumps(valid[name]).encode()
        for wrong in WRONG:
            yield text.replace(member, json.dumps(name).encode() + b": " + wrong)
        yield text[:-1] + b", " + member + b"}"
        yield json.dumps({k: v for k, v in valid.items() if k != name}).encode()
    yield b"\xef\xbb\xbf" + text
    yield text + b"x"
    yield text + text
    yield b"[" + text + b"]"
    yield text.decode().encode("utf-16")


def bodies():
    """Every position of a valid body damaged, on as few connections as there are threads."""
    def work(method, target, valid):
        stream, reader = None, None
        for body in damaged(valid):
            head = b"%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (
                method.encode(), target.encode(), len(body))
            if stream is None:
                stream = connect()
                reader = stream.makefile("rb")
            try:
                stream.sendall(head + body)
                line = reader.readline()
                fields = {}
                while (field := reader.readline().strip()):
                    name, _, value = field.partition(b":")
                    fields[name.lower()] = value.strip()
            except OSError as error:
                fault(f"{target}: {error} for {body[:80]!r}")
                stream = None
                continue
            status = int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else 0
            note(status)
            length = fields.get(b"content-length")
            answer = reader.read(int(length)) if length else b""
            if length is None:
                # An event stream: the damage was harmless, the log-in has begun, and goes with its reader.
                stream.close()
                stream = None
            if status == 0 or status == 500:
                fault(f"{target}: {line!r} for {body[:80]!r}")
            elif status >= 400:
                try:
                    if not re.fullmatch(r"[a-z-]+\.[a-z0-9-]+", json.loads(answer)["error"]["code"]):
                        fault(f"{target}: {answer[:200]!r}")
                except (ValueError, KeyError, TypeError):
                    fault(f"{target}: {answer[:200]!r} for {body[:80]!r}")
            if fields.get(b"connection", b"").lower() == b"close":
                stream = None
    at_once(lambda route: work(*route), ROUTES)
    for count in (1 << 20, (1 << 20) + 1, 9 << 20):
        body = b'{"topic":"door","payload":"' + b"a" * (count - 29) + b'"}'
        answer = send(request("POST", "/v1/messages", body))
        expect(answer, f"body of {count}", {413, 409, 400} if count > 1 << 20 else {413, 409, 400, 202},
               has_code=answer.raw != b"")
    is_served(150)


# --- Several requests in one


def smuggling():
    hidden = b"GET /v1/token HTTP/1.1\r\nHost: localhost\r\n\r\n"
    post = b"POST /v1/board/button HTTP/1.1\r\nHost: localhost\r\n"
    attacks = {
        "CL and TE": post + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" %
        (5 + len(hidden)) + hidden,
        "TE and CL": post + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + hidden,
        "two CL": post + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(hidden) + hidden,
        "two CL, the other way": post + b"Content-Length: %d\r\nContent-Length: 0\r\n\r\n" % len(hidden) + hidden,
        "CL list": post + b"Content-Length: 0, %d\r\n\r\n" % len(hidden) + hidden,
        "TE twice": post + b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
        "TE hidden": post + b"Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{}" + hidden,
        "TE with a tab": post + b"Transfer-Encoding:\tchunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n" + hidden,
        "TE folded": post + b"Transfer-Encoding:\r\n chunked\r\nContent-Length: 2\r\n\r\n{}" + hidden,
        "chunk size negative": post + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n" + hidden,
        "chunk size huge": post + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n" + hidden,
        "chunk size overflows": post + b"Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n0\r\n\r\n"
        + hidden,
        "chunk without end": post + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}X" + hidden,
        "chunk extension": post + b"Transfer-Encoding: chunked\r\n\r\n2;" + b"a" * 20_000 + b"\r\n{}\r\n0\r\n\r\n",
        "chunk trailer": post + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nContent-Length: 5\r\nX: "
        + b"a" * 50_000 + b"\r\n\r\n",
        "bare LF": b"POST /v1/board/button HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n0\n\n" + hidden,
        "bare CR": post + b"Content-Length: 2\r\rTransfer-Encoding: chunked\r\n\r\n{}",
    }
    # A folded header is none to libmicrohttpd: only the other length counts, and there is no proxy that could read it
    # otherwise.
    ambiguous = {
        "CL and TE", "TE and CL", "two CL", "two CL, the other way", "CL list", "TE twice", "TE hidden", "TE with a tab"
    }

    def smuggle(attack):
        name, raw = attack
        answer = send(raw, half_close=True)
        answers = re.findall(rb"HTTP/1\.1 (\d{3})", answer.raw)
        for status in answers or [b"none"]:
            note(status.decode())
        # However the length was read: the request that hides behind it must have been read by one rule, and both
        # requests come from the same peer over the same connection, so the daemon may answer two. It may not answer
        # more, nor fail inside.
        if len(answers) > 2 or b"500" in answers:
            fault(f"{name}: {answer.raw[:300]!r}")
        if name in ambiguous and len(answers) == 2 and answers[0].startswith(b"2"):
            fault(f"{name} was taken for two requests: {answer.raw[:300]!r}")
    at_once(smuggle, attacks.items())
    pipelined = b"".join(b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n"
                         for _ in range(500)) + request("GET", "/v1/version")
    answers = re.findall(rb"HTTP/1\.1 (\d{3})", send(pipelined).raw)
    if len(answers) != 501 or set(answers) != {b"200"}:
        fault(f"500 requests in a row: {len(answers)} answers, {set(answers)}")
    mixed = b"".join(b"POST /v1/board/button HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n{"
                     for _ in range(100)) + request("GET", "/v1/version")
    answers = re.findall(rb"HTTP/1\.1 (\d{3})", send(mixed).raw)
    if answers != [b"400"] * 100 + [b"200"]:
        fault(f"100 bad requests and a good one: {len(answers)} answers, {set(answers)}")
    is_served(150)


# --- Slow and many


def slow():
    """As many connections as one user may have, each sending a byte now and then, or reading none of what it is
    sent."""
    beginnings = [b"", b"GET /v1/ver", b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
                  b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
                  b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n"]
    deaf = []
    for _ in range(5):
        stream = connect()
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        deaf.append(stream)

    def trickle(beginning):
        stream = connect()
        began = time.monotonic()
        try:
            stream.sendall(beginning)
            stream.settimeout(0.1)
            while time.monotonic() - began < 150:
                try:
                    # Waits for an answer, and sends one byte more when there is none.
                    got = stream.recv(65536)
                    answer = Answer(got)
                    note(answer.status)
                    if answer.status != 408 or answer.code != "local-api.request-too-slow":
                        fault(f"slow after {beginning[:20]!r}: {got[:200]!r}")
                    return
                except TimeoutError:
                    stream.sendall(b"a")
            fault(f"slow after {beginning[:20]!r}: still there")
        except (BrokenPipeError, ConnectionResetError):
            note("closed")
    threads = [threading.Thread(target=trickle, args=[beginnings[n % len(beginnings)]]) for n in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for stream in deaf:
        stream.close()


def flood():
    """A thousand connections at once: each is served, told that there are too many, or closed; none is left hanging."""
    streams = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    for _ in range(1000):
        # Blocking: with a full backlog the kernel lets it wait its turn.
        stream = socket.socket(socket.AF_UNIX)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 150, 0))
        stream.connect(path)
        streams.append(stream)
    deadline = time.monotonic() + 150

    def finish(stream):
        stream.settimeout(max(deadline - time.monotonic(), 0.1))
        with contextlib.suppress(OSError):
            stream.sendall(request("GET", "/v1/version"))
        try:
            answer = Answer(read(stream))
            note(answer.status)
            if answer.status not in (200, 408, 429, 0):
                fault(f"one of a thousand: {answer.raw[:200]!r}")
        except TimeoutError:
            fault("one of a thousand was left hanging")
        stream.close()
    for stream in streams:
        finish(stream)
    is_served(150)


def unread():
    """Streams whose readers never read, while thousands of messages come for each."""
    streams = []
    for target in ("/v1/messages?filter=flood", "/v1/events") * 4:
        stream = connect()
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.sendall(request("GET", target))
        got = b""
        while (b"subscribed" if "messages" in target else b"\r\n\r\n") not in got:
            piece = stream.recv(4096)
            if not piece:
                fault(f"{target} ended: {got[:200]!r}")
                break
            got += piece
        streams.append(stream)
    body = json.dumps({"topic": "flood", "payload": "x" * 1000}).encode()
    for number in range(5000):
        answer = send(request("POST", "/v1/messages", body))
        note(answer.status)
        if answer.status != 202:
            fault(f"message {number}: {answer.raw[:200]!r}")
            break
    is_served(30)


{name: value for name, value in list(globals().items()) if callable(value)}[kind]()
for text in faults[:20]:
    print("wrong:", text)
answered = ", ".join(f"{number} × {status}" for status, number in sorted(counts.items(), key=str))
print(f"{kind}: {answered}, {len(faults)} wrong")
sys.exit(1 if faults else 0)
