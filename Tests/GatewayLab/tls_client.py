"""A client that does with the lab's TLS what clients of HTTP do not: one scenario, named in the arguments.

OpenSSL's side of TLS is in memory here, so that each byte goes, or does not, when the scenario wants it.
"""
import contextlib
import random
import socket
import ssl
import struct
import subprocess
import sys

PORT, CA, SCENARIO, *ARGUMENTS = sys.argv[1:]
REQUEST = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


def expect(fact, text):
    if not fact:
        sys.exit(f"expected: {text}")


def connected():
    connection = socket.socket()
    # Little waits for a client that does not read.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)
    connection.connect(("127.0.0.1", int(PORT)))
    # Longer than the lab takes for anything, and shorter than it keeps a silent connection.
    connection.settimeout(150)
    return connection


def trusting(version):
    context = ssl.create_default_context(cafile=CA)
    context.minimum_version = context.maximum_version = version
    return context


def rest_of(connection):
    """What still comes until the lab has closed the connection."""
    got = b""
    while True:
        try:
            piece = connection.recv(1 << 16)
        except ConnectionError:
            return got
        except TimeoutError:
            sys.exit("expected: the lab closes the connection")
        if not piece:
            return got
        got += piece


class Client:
    def __init__(self, context, session=None):
        self.connection = connected()
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost", session=session)

    def perform(self, action):
        """Performs an action of TLS with the lab's help."""
        while True:
            try:
                answer = action()
            except ssl.SSLWantReadError:
                self.flush()
                self.receive()
                continue
            self.flush()
            return answer

    def flush(self):
        if self.outgoing.pending:
            self.connection.sendall(self.outgoing.read())

    def receive(self):
        got = self.connection.recv(1 << 16)
        self.incoming.write(got) if got else self.incoming.write_eof()

    def shake_hands(self):
        self.perform(self.tls.do_handshake)
        return self

    def send(self, text):
        self.tls.write(text)
        self.flush()

    def say_goodbye(self):
        """Sends a close_notify, and does not wait for the lab's."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        self.flush()

    def answer(self):
        """Status, headers and the body by its stated length."""
        got = b""
        while b"\r\n\r\n" not in got:
            got += self.read()
        head, _, body = got.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        headers = dict(line.lower().split(b": ", 1) for line in lines[1:])
        while len(body) < int(headers.get(b"content-length", 0)):
            body += self.read()
        return int(lines[0].split()[1]), headers, body

    def read(self):
        piece = self.perform(lambda: self.tls.read(1 << 14))
        expect(piece, "the lab goes on")
        return piece


def is_alive():
    client = Client(trusting(VERSIONS[-1])).shake_hands()
    client.send(REQUEST)
    expect(client.answer()[0] == 404, "the lab still answers")


def hello(version):
    """The first bytes of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting(version).wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()


def hostile():
    chance = random.Random(1)
    hellos = [hello(version) for version in VERSIONS]
    openings = [
        b"", REQUEST, b"\x16\x03\x01", b"\x16\x03\x01\xff\xff" + bytes(65535), b"\x16\x03\x01\x00\x00" * 100,
        b"\x80\x2e\x01\x03\x01\x00\x15\x00\x00\x00\x10" + bytes(40), b"\x15\x03\x03\x00\x02\x01\x00" * 1000,
        b"\x14\x03\x03\x00\x01\x01" * 1000, b"\x17\x03\x03\x00\x10" + bytes(16)]
    # A message of 16 MB, in records.
    openings.append(
        b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + bytes(16380) + (b"\x16\x03\x01\x40\x00" + bytes(16384)) * 50
    )
    openings += [chance.randbytes(chance.randrange(1, 2000)) for _ in range(30)]
    for message in hellos:
        openings += [message[:end] for end in range(1, len(message), 23)]
        for _ in range(60):
            place = chance.randrange(len(message))
            openings.append(message[:place] + chance.randbytes(1) + message[place + 1:])
    for opening in openings:
        connection = connected()
        try:
            connection.sendall(opening)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The lab may have seen enough.
        rest_of(connection)
    for version in VERSIONS:
        for _ in range(20):
            client = Client(trusting(version)).shake_hands()
            client.tls.write(REQUEST)
            record = bytearray(client.outgoing.read())
            record[chance.randrange(5, len(record))] ^= 1 << chance.randrange(8)
            client.connection.sendall(record)
            client.incoming.write(rest_of(client.connection))
            try:
                text = client.tls.read()
            except ssl.SSLError as error:
                expect("BAD_RECORD_MAC" in str(error), f"an alert that says why, not {error}")
            else:
                sys.exit(f"expected: no answer, not {text}")
    is_alive()


def cut():
    waiting = []
    for version in VERSIONS:
        for turn in range(30):
            client = Client(trusting(version))
            with contextlib.suppress(ssl.SSLWantReadError):
                client.tls.do_handshake()
            message = client.outgoing.read()
            # In the middle of the client's first message, or when the lab waits for its second.
            client.connection.sendall(message[:len(message) // 2] if turn % 2 else message)
            if turn % 2 == 0:
                client.receive()
            if turn % 3 == 0:
                # Closed with a reset.
                client.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if turn % 3 < 2:
                client.connection.close()
            else:
                waiting.append(client)
        # The client goes without a farewell, before its request is complete and after an answer.
        for request, answers in ((REQUEST[:-2], 0), (REQUEST, 1)):
            client = Client(trusting(version)).shake_hands()
            client.send(request)
            for _ in range(answers):
                client.answer()
            client.connection.shutdown(socket.SHUT_WR)
            rest_of(client.connection)
    is_alive()
    expect(len(waiting) == 20, "some are still there")


def slow():
    """A client that reads nothing until the lab has answered another, of an answer that no socket holds."""
    token, length = ARGUMENTS[0], int(ARGUMENTS[1])
    request = f"GET /lab/file/{length} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    # The byte at each place is of the sum of 31 times the place and its 256th; after a prime number of them all repeat.
    block = bytes((place * 31 + (place >> 8)) & 255 for place in range(65521))
    expected = (block * (length // len(block) + 1))[:length]
    # The client has more to say; has said that it has not; has closed its half of the connection besides.
    for silence, version in zip(("none", "tls", "tcp"), (ssl.TLSVersion.TLSv1_3, *VERSIONS)):
        client = Client(trusting(version)).shake_hands()
        client.send(request)
        if silence != "none":
            client.say_goodbye()
        if silence == "tls":
            # Which is not heard.
            client.connection.sendall(bytes(1 << 16))
        if silence == "tcp":
            client.connection.shutdown(socket.SHUT_WR)
        is_alive()
        status, _, body = client.answer()
        expect(status == 200 and body == expected, f"all of the answer, with silence of {silence}")
        if silence == "none":
            client.send(REQUEST)
            expect(client.answer()[0] == 404, "the connection is kept")
        else:
            try:
                client.read()
            except ssl.SSLZeroReturnError:
                continue
            sys.exit("expected: the lab says that nothing follows")


def long_request():
    """A body in records of every size, as they come from a client that writes much and little."""
    token = ARGUMENTS[0]
    for version in VERSIONS:
        chance = random.Random(2)
        pieces = [chance.randbytes(chance.choice((1, 2, 100, 5000, 16384, 70000))) for _ in range(100)]
        client = Client(trusting(version)).shake_hands()
        client.send(f"POST /lab/upload HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
                    f"Content-Length: {sum(map(len, pieces))}\r\n\r\n".encode())
        for piece in pieces:
            client.send(piece)
        status, _, body = client.answer()
        expect(status == 200, f"200, not {status} {body}")
        expect(f'"length":{sum(map(len, pieces))}'.encode() in body.replace(b" ", b""), "all of the body")


def refused():
    """A certificate of another CA: the client sees why, also where it has gone on speaking."""
    for version in VERSIONS:
        context = trusting(version)
        context.load_cert_chain(ARGUMENTS[0])
        for _ in range(10):
            client = Client(context)
            try:
                client.shake_hands()
                for _ in range(5):
                    client.send(REQUEST * 100)
                client.answer()
            except ssl.SSLError as error:
                expect("CERTIFICATE_UNKNOWN" in str(error), f"the alert certificate_unknown, not {error}")
            else:
                sys.exit("expected: the lab refuses the certificate")
            client.connection.shutdown(socket.SHUT_WR)
            rest_of(client.connection)


def resumed():
    """A session that goes on from an earlier one has the certificate that was shown there."""
    identity, mag = ARGUMENTS
    request = (f"PUT /connect/device/renew HTTP/1.1\r\nHost: localhost\r\nmag-identifier: {mag}\r\n"
               "cert-format: pem\r\nContent-Length: 0\r\n\r\n").encode()
    for version in VERSIONS:
        context = trusting(version)
        context.load_cert_chain(identity)
        first = Client(context).shake_hands()
        first.send(request)
        expect(first.answer()[0] == 200, "the certificate is seen")
        second = Client(context, session=first.tls.session).shake_hands()
        expect(second.tls.session_reused, "the session goes on")
        second.send(request)
        expect(second.answer()[0] == 200, "the certificate is known")
        bare = Client(trusting(version)).shake_hands()
        bare.send(request)
        expect(bare.answer()[0] == 400, "a new session has none")


def versions():
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        context = ssl.create_default_context(cafile=CA)
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
        try:
            Client(context).shake_hands()
        except ssl.SSLError as error:
            expect("PROTOCOL_VERSION" in str(error), f"the alert protocol_version, not {error}")
        else:
            sys.exit(f"expected: no {version.name}")
    for version in VERSIONS:
        client = Client(trusting(version)).shake_hands()
        expect(client.tls.version() == version.name.replace("_", "."), version.name)


def new_keys():
    """The openssl program asks for new keys in TLS 1.3, and to renegotiate in TLS 1.2, which the lab does not."""
    program = ["openssl", "s_client", "-connect", f"127.0.0.1:{PORT}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(program + ["-tls1_3"], **pipes) as client:
        for letter in (b"K", b"k"):
            say(client, letter + b"\n", until=b"KEYUPDATE")
            say(client, REQUEST, until=b"HTTP/1.1 404")
        client.stdin.close()
        client.stdout.read()
    with subprocess.Popen(program + ["-tls1_2"], **pipes) as client:
        say(client, b"R\n", until=b"no renegotiation")
        client.stdin.close()
        client.stdout.read()
    is_alive()


def say(client, text, until):
    client.stdin.write(text)
    client.stdin.flush()
    for line in client.stdout:
        if until in line:
            return
    sys.exit(f"expected: {until.decode()}")


{"hostile": hostile, "cut": cut, "slow": slow, "long_request": long_request, "refused": refused, "resumed": resumed,
 "versions": versions, "new_keys": new_keys}[SCENARIO]()
