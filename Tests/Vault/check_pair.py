"""Uses the public half of a key pair, with Python's cryptography.

python3 check_pair.py SPKI verify ALGORITHM SIGNATURE    with the message on standard input
python3 check_pair.py SPKI wrap oaep|v15                 with the secret on standard input; prints what wraps it

All but names are hexadecimal digits.
"""

import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, utils
from cryptography.hazmat.primitives.serialization import load_der_public_key

spki, action, way, *rest = sys.argv[1:]
key = load_der_public_key(bytes.fromhex(spki))
given = bytes.fromhex(sys.stdin.read())
sha256 = hashes.SHA256()
if action == "verify":
    signature = bytes.fromhex(rest[0])
    if way == "ES256":
        r, s = (int.from_bytes(part, "big") for part in (signature[:32], signature[32:]))
        key.verify(utils.encode_dss_signature(r, s), given, ec.ECDSA(sha256))
    elif way == "PS256":
        key.verify(signature, given, padding.PSS(padding.MGF1(sha256), 32), sha256)
    else:
        key.verify(signature, given, padding.PKCS1v15(), sha256)
    print("valid")
elif way == "oaep":
    print(key.encrypt(given, padding.OAEP(padding.MGF1(sha256), sha256, None)).hex())
else:
    print(key.encrypt(given, padding.PKCS1v15()).hex())
