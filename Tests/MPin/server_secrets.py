"""Compares the servers' secrets of the vectors, which are points of G2, with what plain integers give (MPIN 4.1).

    server_secrets.py FOLDER

Prints how many it compared, of all files in and below the folder; a vector may lack any of them. Exits with 1 and says
which are different. The first right and the first wrong proof of each file are judged by the pairing, too.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "GatewayLab"))
import mpin_curve as curve  # noqa: E402


def encoded(point):
    return "".join(f"{number:064x}" for coordinate in point for number in coordinate)


def judged(vector, name):
    """Whether the pairing takes what a vector has; None if it does not have it all."""
    given, expected = vector.get("input", {}), vector.get("expect", {})
    commitment = expected.get("UT") or expected.get("U")
    validator, y = expected.get(name), given.get("y")
    secrets = [given.get(f"master_secret{number}") for number in (1, 2)]
    if not all([commitment, validator, y, *secrets, given.get("mpin_id_hex")]):
        return None
    identity = curve.digest(bytes.fromhex(given["mpin_id_hex"]))
    base = curve.point_of(identity)
    if given.get("date"):
        base = curve.add(base, curve.point_of(curve.digest(identity, given["date"])))
    secret = sum(int(text, 16) for text in secrets)
    return curve.accepts(curve.decode(validator.lower()), curve.decode(commitment.lower()), int(y, 16), base, secret)


count, faults = 0, []


def compare(is_right, what):
    global count
    count += 1
    if not is_right:
        faults.append(what)


for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    if path.suffix.lower() != ".json":
        continue
    document = json.loads(path.read_bytes())
    if not isinstance(document, dict) or document.get("curve", "BN254CX").upper() != "BN254CX":
        continue
    left = {"V": True, "wrong_pin_V": False}
    for index, vector in enumerate(document.get("vectors", [])):
        name = f"{path.name} {vector.get('id', index)}"
        server = vector.get("server", {})
        secrets = [vector.get("input", {}).get(f"master_secret{number}") for number in (1, 2)]
        for number, secret in enumerate(secrets, 1):
            share = server.get(f"server_secret_share{number}")
            if secret and share:
                compare(encoded(curve.server_key(int(secret, 16))) == share.lower(), f"{name}: share {number}")
        if all(secrets) and server.get("server_secret"):
            key = curve.server_key(sum(int(secret, 16) for secret in secrets))
            compare(encoded(key) == server["server_secret"].lower(), f"{name}: server_secret")
        for validator in list(left):
            verdict = judged(vector, validator)
            if verdict is not None:
                compare(verdict == left.pop(validator), f"{name}: {validator} by the pairing")
print(count, "compared")
sys.exit("; ".join(faults) or 0)
