"""Opens an envelope, with Python's cryptography: python3 read_envelope.py UID NAME ID KEY, envelope on standard input.

ID, KEY and the envelope are hexadecimal digits; prints the text as such. It shares no code with the program that
writes envelopes, only the format.
"""

import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

uid, name, key_id, key = sys.argv[1:]
envelope = bytes.fromhex(sys.stdin.read())
assert envelope[:4] == b"LKE1", "it is no envelope"
assert envelope[4:20].hex() == key_id, "it is another key's"
label = int(uid).to_bytes(4, "big") + name.encode()
print(AESGCM(bytes.fromhex(key)).decrypt(envelope[20:32], envelope[32:], label).hex())
