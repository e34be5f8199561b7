"""TLS servers that are wrong, each in one way, for the tests of what a client refuses.

Makes its certificates in the folder it is given, prints a line `NAME PORT` for each server and then `ready`, and
ends when the process that started it does. Each server speaks HTTP and MQTT behind its TLS: the first byte tells.
"""
import contextlib
import datetime
import ipaddress
import os
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

folder = sys.argv[1]
now = datetime.datetime.utcnow()
DAY = datetime.timedelta(days=1)


class Entity:
    """A key with its certificate, and whoever issued it."""

    def __init__(self, name, issuer=None, *, authority=False, hosts=("localhost", ), start=-1, end=1, key=None,
                 usage=ExtendedKeyUsageOID.SERVER_AUTH, digest=None, constraint=None, critical=False,
                 claims_authority=None):
        self.key = key or ec.generate_private_key(ec.SECP256R1())
        self.issuer = issuer
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        above = issuer or self
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(
            issuer.certificate.subject if issuer else subject).public_key(self.key.public_key()).serial_number(
                x509.random_serial_number()).not_valid_before(
                    now + start * DAY).not_valid_after(now + end * DAY).add_extension(
                        x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), False).add_extension(
                            x509.AuthorityKeyIdentifier.from_issuer_public_key(above.key.public_key()), False))
        is_authority = authority if claims_authority is None else claims_authority
        builder = builder.add_extension(x509.BasicConstraints(is_authority, None), True)
        if authority and is_authority:
            builder = builder.add_extension(x509.KeyUsage(False, False, False, False, False, True, True, False, False),
                                            True)
        if not authority:
            builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
            names = [
                x509.IPAddress(ipaddress.ip_address(host)) if re.fullmatch(r"[0-9.]+", host) else x509.DNSName(host)
                for host in hosts
            ]
            if names:
                builder = builder.add_extension(x509.SubjectAlternativeName(names), False)
        if constraint:
            builder = builder.add_extension(x509.NameConstraints([x509.DNSName(constraint)], None), True)
        if critical:
            builder = builder.add_extension(
                x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\x00"), True)
        self.certificate = builder.sign(above.key, digest or hashes.SHA256())

    @property
    def pem(self):
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def key_pem(self):
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()

    def chain(self):
        """Up to the issuer below the root, which no server has to send."""
        entity, chain = self, []
        while entity and (entity.issuer or not chain):
            chain.append(entity)
            entity = entity.issuer
        return chain


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


root = Entity("Root", authority=True)
middle = Entity("Intermediate", root, authority=True)
stranger = Entity("Stranger", authority=True)
good = Entity("server", middle)
write("root.pem", root.pem)
write("intermediate.pem", middle.pem)
write("stranger.pem", stranger.pem)
write("leaf.pem", good.pem)
write("client.pem", Entity("board", root, usage=ExtendedKeyUsageOID.CLIENT_AUTH).pem)
expired_middle = Entity("Intermediate that ended", root, authority=True, start=-9, end=-2)
no_authority = Entity("Intermediate that is none", root, authority=True, claims_authority=False)
constrained = Entity("Constrained intermediate", root, authority=True, constraint="elsewhere.test")
weak_middle = Entity("Weak intermediate", root, authority=True, key=rsa.generate_private_key(65537, 1024))
rsa_server = Entity("server", middle, key=rsa.generate_private_key(65537, 2048))


# --- Servers with a real handshake


def context(entity, chain=None, *, least=None, most=None, ciphers=None, clients=None, certificates=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # A server that is wrong has no scruples of its own.
    made.set_ciphers((ciphers or "ALL") + ":@SECLEVEL=0")
    made.minimum_version = least or ssl.TLSVersion.TLSv1_2
    if most:
        made.maximum_version = most
    if entity:
        text = entity.key_pem + "".join(certificates or [e.pem for e in (chain or entity.chain())])
        path = write(f"server-{next(numbers)}.pem", text)
        made.load_cert_chain(path)
        os.remove(path)
    if clients:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(cadata=clients.pem)
    return made


def converse(stream):
    """Answers one request of either protocol."""
    beginning = stream.recv(4096)
    if beginning[:1] == b"\x10":
        stream.sendall(b"\x20\x02\x00\x00")
        while stream.recv(4096):
            pass
    elif beginning:
        while b"\r\n\r\n" not in beginning:
            beginning += stream.recv(4096)
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        while stream.recv(4096):
            pass


numbers = iter(range(10_000))


def tls(*arguments, **options):
    made = context(*arguments, **options)

    def serve(connection):
        with made.wrap_socket(connection, server_side=True) as stream:
            converse(stream)
    return serve


# --- Servers without one


def hello(connection):
    """Takes the client's first record, so that what is unread does not turn the end into a reset."""
    head = connection.recv(5, socket.MSG_WAITALL)
    connection.recv(int.from_bytes(head[3:5], "big"), socket.MSG_WAITALL)


def says(text):
    def serve(connection):
        hello(connection)
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(4096)
    return serve


def mute(connection):
    while connection.recv(4096):
        pass


def floods(piece, pause=0.0):
    def serve(connection):
        hello(connection)
        while True:
            connection.sendall(piece)
            time.sleep(pause)
    return serve


honest = context(good)


def flight(connection):
    """What an honest server says first, and its part of the TLS."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    side = honest.wrap_bio(incoming, outgoing, server_side=True)
    incoming.write(connection.recv(16_384))
    with contextlib.suppress(ssl.SSLWantReadError):
        side.do_handshake()
    return side, incoming, outgoing


def cut(connection):
    said = flight(connection)[2].read()
    connection.sendall(said[:len(said) // 2])
    connection.shutdown(socket.SHUT_WR)
    connection.recv(4096)


def drips(connection):
    # Each byte is right, and none is late enough to be given up for.
    for byte in flight(connection)[2].read():
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def speaks_on(connection):
    """Says goodbye in the middle of its answer, and goes on."""
    side, incoming, outgoing = flight(connection)
    connection.sendall(outgoing.read())
    while True:
        incoming.write(connection.recv(16_384))
        try:
            side.do_handshake()
            beginning = side.read(1)
            break
        except ssl.SSLWantReadError:
            pass
    side.write(b"\x20" if beginning == b"\x10" else b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
    with contextlib.suppress(ssl.SSLError):
        side.unwrap()
    connection.sendall(outgoing.read() + b"\x17\x03\x03\x00\x40" + os.urandom(64))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(4096)


def renegotiating():
    """`openssl s_server`, told to renegotiate as soon as a client is there."""
    path = write("renegotiating.pem", good.key_pem + good.pem)
    chain = write("renegotiating-chain.pem", middle.pem)
    server = subprocess.Popen(
        ["openssl", "s_server", "-accept", "127.0.0.1:0", "-tls1_2", "-cert", path, "-cert_chain", chain],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)
    children.append(server)
    port = None
    while port is None:
        found = re.match(rb"ACCEPT .*:(\d+)\s*$", server.stdout.readline())
        port = int(found[1]) if found else None

    def push():
        for line in server.stdout:
            if line.startswith(b"CIPHER is"):
                server.stdin.write(b"r\n")
    threading.Thread(target=push, daemon=True).start()
    return port


children = []
v1_0, v1_1, v1_2, v1_3 = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3

def alert(level, number):
    return b"\x15\x03\x03\x00\x02" + bytes([level, number])


def leaf(**options):
    return Entity("server", middle, **options)


servers = {
    "good": tls(good),
    "good-1.2": tls(good, most=v1_2),
    "expired": tls(leaf(start=-9, end=-2)),
    "not-yet-valid": tls(leaf(start=2, end=9)),
    "expired-intermediate": tls(Entity("server", expired_middle)),
    "self-signed": tls(Entity("server")),
    "other-authority": tls(Entity("server", stranger)),
    "missing-intermediate": tls(good, [good]),
    "other-host": tls(leaf(hosts=["elsewhere.test"])),
    "other-address": tls(leaf(hosts=["127.0.0.2", "localhost"])),
    "name-in-subject": tls(Entity("localhost", middle, hosts=[])),
    "address-as-name": tls(Entity("127.0.0.1", middle, hosts=[])),
    "wildcard-alone": tls(leaf(hosts=["*"])),
    "wildcard-top": tls(leaf(hosts=["*.com"])),
    "wildcard-partial": tls(leaf(hosts=["gate*.lab.example"])),
    "wildcard-deep": tls(leaf(hosts=["*.example"])),
    "weak-key": tls(leaf(key=rsa.generate_private_key(65537, 1024))),
    "weak-intermediate": tls(Entity("server", weak_middle)),
    "weak-signature": tls(leaf(digest=hashes.SHA1())),
    "client-usage": tls(leaf(usage=ExtendedKeyUsageOID.CLIENT_AUTH)),
    "issued-by-no-authority": tls(Entity("server", no_authority)),
    "issued-by-a-server": tls(Entity("server", good)),
    "constraint-violated": tls(Entity("server", constrained)),
    "unknown-critical": tls(leaf(critical=True)),
    "long-chain": tls(good, certificates=[good.pem] + [middle.pem] * 11),
    "huge-chain": tls(good, certificates=[good.pem] + [middle.pem] * 1000),
    "tls-1.0": tls(rsa_server, least=v1_0, most=v1_0),
    "tls-1.1": tls(rsa_server, least=v1_1, most=v1_1),
    "no-forward-secrecy": tls(rsa_server, most=v1_2, ciphers="AES128-GCM-SHA256:AES128-SHA"),
    "no-authenticated-encryption": tls(rsa_server, most=v1_2, ciphers="ECDHE-RSA-AES128-SHA256"),
    "anonymous": tls(None, most=v1_2, ciphers="aNULL"),
    "no-encryption": tls(rsa_server, most=v1_2, ciphers="eNULL"),
    "client-refused-1.3": tls(good, least=v1_3, clients=stranger),
    "client-refused-1.2": tls(good, most=v1_2, clients=stranger),
    "client-wanted": tls(good, clients=root),
    "mute": mute,
    "drips": drips,
    "records-without-end": floods(b"\x16\x03\x03\x00\x00", 0.02),
    "alerts-without-end": floods(alert(1, 90)),
    "truncated-record": says(b"\x16\x03\x03\x40\x00" + b"\x02" * 10),
    "oversized-record": says(b"\x16\x03\x03\xff\xff" + b"\x02" * 100),
    "cut-in-handshake": cut,
    "garbage": says(bytes(range(1, 200))),
    "plain-http": says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "plain-mqtt": says(b"\x20\x02\x00\x00"),
    "hangs-up": says(b""),
    "refuses": says(alert(2, 40)),
    "speaks-after-goodbye": speaks_on,
}


def accept(listener, serve):
    def handle(connection):
        with connection, contextlib.suppress(OSError, ssl.SSLError):
            serve(connection)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=handle, args=[connection], daemon=True).start()


def end_with_parent():
    select.select([os.pidfd_open(os.getppid())], [], [])
    for child in children:
        child.kill()
    os._exit(0)


signal.pthread_sigmask(signal.SIG_SETMASK, [])
threading.Thread(target=end_with_parent, daemon=True).start()
for name, serve in servers.items():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    threading.Thread(target=accept, args=[listener, serve], daemon=True).start()
    print(name, listener.getsockname()[1])
print("renegotiates", renegotiating())
print("ready", 0, flush=True)
signal.sigwait([signal.SIGTERM])
for child in children:
    child.kill()
