"""Reads an export of a vault, with Python's cryptography: python3 read_export.py FILE, passphrase on standard input.

Prints a line of JSON for each record: scope, name, kind, and the content as hexadecimal digits. It shares no code with
the program that writes exports, only the format.
"""

import json
import struct
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

TITLE = b"latchkey-export 1\n"


class Fields:
    """Fields of bytes after their count, and numbers of 8 bytes."""

    def __init__(self, data):
        self.data, self.offset = data, 0

    def take(self, count):
        part = self.data[self.offset:self.offset + count]
        assert len(part) == count, "it ends too early"
        self.offset += count
        return part

    def field(self):
        return self.take(struct.unpack(">I", self.take(4))[0])

    def number(self):
        return struct.unpack(">q", self.take(8))[0]


def derived(secret, prefix, purpose):
    return HKDF(hashes.SHA256(), 32, salt=prefix, info=purpose).derive(secret)


def plain_text(data, passphrase):
    assert data.startswith(TITLE), "not an export"
    file = Fields(data)
    file.take(len(TITLE))
    assert file.field() == b"scrypt"
    n, r, p = file.number(), file.number(), file.number()
    salt, prefix, check = file.field(), file.take(7), file.take(32)
    digest = hashes.Hash(hashes.SHA256())
    digest.update(data[:file.offset])
    assert digest.finalize() == file.take(32), "the header is damaged"
    header = data[:file.offset]

    secret = Scrypt(salt=salt, length=32, n=n, r=r, p=p).derive(passphrase)
    assert derived(secret, prefix, b"latchkey export check 1") == check, "wrong passphrase"
    cipher = AESGCM(derived(secret, prefix, b"latchkey export pieces 1"))

    text, number, is_last = b"", 0, False
    while not is_last:
        word = struct.unpack(">I", file.take(4))[0]
        is_last, count = bool(word >> 31), word & 0x7FFFFFFF
        assert count <= 65536 and (is_last or count == 65536)
        nonce = prefix + struct.pack(">IB", number, is_last)
        text += cipher.decrypt(nonce, file.take(count + 16), header)
        number += 1
    assert file.offset == len(data), "it goes on after its end"
    return text


def main():
    with open(sys.argv[1], "rb") as file:
        text = Fields(plain_text(file.read(), sys.stdin.buffer.read()))
    assert text.field() == b"latchkey export records 1"
    while text.offset < len(text.data):
        scope, name, kind, content = (text.field() for _ in range(4))
        print(json.dumps({
            "scope": scope.decode(), "name": name.decode(), "kind": kind.decode(), "content": content.hex()}))


main()
