"""M-Pin back ends with both of their trust authorities, whose answers a test chooses.

    server.py            prints its address when it answers, and runs until it is killed

Below /NAME is a back end of that name. It computes with plain integers what docs/protocols/mpin.md says in sections 2.1
to 2.5 and 4.2, and shares nothing with the program. /control reads what was asked, and sets what is answered: for an
endpoint a status and a text ("answers"; status 0 ends the connection), or members in place of its own ("patches"; null
removes one). An endpoint may be held ("hold"), and /control/held answers once it is asked.
"""
import hashlib
import http.server
import json
import secrets
import threading
import urllib.parse

U = -0x4000000003C012B1
P = 36 * U**4 + 36 * U**3 + 24 * U**2 + 6 * U + 1
N = 36 * U**4 + 36 * U**3 + 18 * U**2 + 6 * U + 1

DAY = 19674
DEFAULTS = {"answers": {}, "patches": {}, "settings": {}, "requests": [], "isActive": False, "date": DAY,
            "published": {}, "accessNumbers": ["4241703"], "limit": 3, "usePermits": True, "verdict": {}, "hold": None}
control = json.loads(json.dumps(DEFAULTS))
changed = threading.Condition()
ends = {}


def add(one, other):
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % P == 0:
            return None
        slope = 3 * one[0] ** 2 * pow(2 * one[1], -1, P)
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, P)
    x = (slope * slope - one[0] - other[0]) % P
    return x, (slope * (one[0] - x) - one[1]) % P


def doubled(point):
    """Of a point whose affine coordinates are x/z², y/z³, as an inversion at each step would take too long."""
    x, y, z = point
    four = 4 * x * y * y % P
    slope = 3 * x * x
    third = (slope * slope - 2 * four) % P
    return third, (slope * (four - third) - 8 * y**4) % P, 2 * y * z % P


def added(point, other):
    """The same, with another whose z is 1; the two must neither be equal nor opposite."""
    x, y, z = point
    distance = (other[0] * z * z - x) % P
    slope = (other[1] * z**3 - y) % P
    square = distance * distance % P
    cube = square * distance % P
    third = (slope * slope - cube - 2 * x * square) % P
    return third, (slope * (x * square - third) - y * cube) % P, z * distance % P


def times(scalar, point):
    """No partial sum of a scalar below the order minus one is the point itself or its opposite."""
    if scalar % N == 0:
        return None
    if scalar % N == N - 1:
        return point[0], P - point[1]
    total = (*point, 1)
    for bit in bin(scalar % N)[3:]:
        total = doubled(total)
        if bit == "1":
            total = added(total, point)
    inverse = pow(total[2], -1, P)
    return total[0] * inverse**2 % P, total[1] * inverse**3 % P


def point_of(digest):
    x = int.from_bytes(digest, "big") % P
    while pow(x**3 + 2, (P - 1) // 2, P) != 1:
        x = (x + 1) % P
    y = pow(x**3 + 2, (P + 1) // 4, P)
    return x, y if y % 2 == 0 else P - y


def encoded(point):
    return "04" + "".join(number.to_bytes(32, "big").hex() for number in point)


def decoded(text):
    octets = bytes.fromhex(text)
    point = int.from_bytes(octets[1:33], "big"), int.from_bytes(octets[33:], "big")
    assert len(octets) == 65 and octets[0] == 4 and (point[0] ** 3 + 2 - point[1] ** 2) % P == 0
    return point


class BackEnd:
    def __init__(self):
        self.shares = [1 + secrets.randbelow(N - 1) for _ in range(2)]
        self.secret = sum(self.shares) % N
        self.users = {}
        self.passes = {}
        self.proofs = {}

    @staticmethod
    def identity(mpin_id):
        return hashlib.sha256(bytes.fromhex(mpin_id)).digest()

    @staticmethod
    def dated(identity, date):
        return hashlib.sha256(date.to_bytes(4, "big") + identity).digest()

    def proves(self, mpin_id, validator):
        challenge, first, dated, date = self.passes.pop(mpin_id)
        identity = self.identity(mpin_id)
        base, commitment = point_of(identity), first
        if dated:
            base, commitment = add(base, point_of(self.dated(identity, date))), dated
        return add(validator, times(self.secret, add(commitment, times(challenge, base)))) is None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def send(self, status, body, headers=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def handle_one(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        path, _, query = self.path.partition("?")
        parts = path.strip("/").split("/")
        if parts[0] == "control":
            with changed:
                if self.command == "POST":
                    control.update(json.loads(body))
                    changed.notify_all()
                if parts[-1] == "held":
                    changed.wait_for(lambda: self.server.held, timeout=150)
                return self.send(200, control)
        with changed:
            control["requests"].append({
                "method": self.command, "path": path, "query": query, "body": body,
                "headers": {name.lower(): value for name, value in self.headers.items()}})
            if control["hold"] == self.endpoint(parts[1:])[0]:
                self.server.held = True
                changed.notify_all()
                changed.wait_for(lambda: control["hold"] is None, timeout=150)
            end = ends.setdefault(parts[0], BackEnd())
            name, rest = self.endpoint(parts[1:])
            status, answer = control["answers"].get(name) or (None, None)
            if status is None:
                status, answer = self.respond(end, name, rest, query, json.loads(body) if body else {})
                if isinstance(answer, dict):
                    answer |= control["patches"].get(name, {})
                    answer = {key: value for key, value in answer.items() if value is not None}
        if status == 0:
            self.close_connection = True
            return None
        headers = {"Location": f"{self.server.base}/elsewhere"} if 300 <= status < 400 else {}
        return self.send(status, answer if isinstance(answer, dict) else answer.encode(), headers)

    do_GET = do_PUT = do_POST = handle_one

    @staticmethod
    def endpoint(parts):
        known = {
            "service": "service", "rps/clientSettings": "clientSettings", "rps/user": "user",
            "rps/signature": "signature", "rps/timePermit": "timePermit", "storage": "storage",
            "dta/clientSecret": "clientSecret", "dta/timePermit": "timePermitTwo", "rps/pass1": "pass1",
            "rps/pass2": "pass2", "mpinAuthenticate": "authenticate", "rps/authenticate": "mobileAuthenticate",
            "rps/codeStatus": "codeStatus", "logout": "logout"}
        for count in (2, 1):
            name = known.get("/".join(parts[:count]))
            if name:
                return name, parts[count:]
        return "unknown", parts

    def respond(self, end, name, rest, query, body):
        fields = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        return getattr(self, "answer_" + name)(end, rest, fields, body)

    def answer_unknown(self, *_):
        return 404, ""

    def answer_clientSettings(self, *_):
        settings = {
            "registerURL": "/rps/user", "signatureURL": "/rps/signature", "timePermitsURL": "/rps/timePermit",
            "timePermitsStorageURL": "", "certivoxURL": "/dta/", "mpinAuthServerURL": "/rps",
            "authenticateURL": "/mpinAuthenticate", "mobileAuthenticateURL": "/rps/authenticate",
            "codeStatusURL": "/rps/codeStatus", "appID": "a0b1", "usePermits": control["usePermits"],
            "accessNumberUseCheckSum": True, "accessNumberDigits": 7, "cSum": 1, "setDeviceName": True}
        return 200, settings | control["settings"]

    def answer_service(self, *_):
        return 200, {"name": "Example", "url": self.server.base, "rps_prefix": "rps", "logo_url": "", "type": "online"}

    def answer_user(self, end, rest, fields, body):
        user = end.users.get(rest[0]) if rest else None
        if rest and (not user or user["regOTT"] != body.get("regOTT")):
            return 400, ""
        if not user or user.get("isOver"):
            document = {"mobile": 1, "issued": "2026-01-01 00:00:00.000000", "userID": body["userId"],
                        "salt": secrets.token_hex(16)}
            mpin_id = json.dumps(document).encode().hex()
            user = {"mpinId": mpin_id, "regOTT": secrets.token_hex(16), "failures": 0}
            end.users[mpin_id] = user
        user["isActive"] = control["isActive"]
        return 200, {"mpinId": user["mpinId"], "regOTT": user["regOTT"], "active": user["isActive"],
                     "expireTime": "2026-01-01T01:00:00Z", "nowTime": "2026-01-01T00:00:00Z"}

    def answer_signature(self, end, rest, fields, body):
        user = end.users.get(rest[0])
        if not user or user.get("isOver") or user["regOTT"] != fields.get("regOTT"):
            return 400, ""
        if not (user["isActive"] or control["isActive"]):
            return 401, ""
        # What a test changes in the answer, the program does not take: it asks again.
        user["isOver"] = "signature" not in control["patches"]
        identity = end.identity(rest[0])
        return 200, {"clientSecretShare": encoded(times(end.shares[0], point_of(identity))),
                     "params": f"hash_user_id=&expires=2026-01-01T00%3A01%3A00Z&app_id=a0b1&mobile=1"
                               f"&hash_mpin_id={identity.hex()}&signature={'ab' * 32}"}

    def answer_clientSecret(self, end, rest, fields, body):
        share = times(end.shares[1], point_of(bytes.fromhex(fields["hash_mpin_id"])))
        return 200, {"clientSecret": encoded(share), "message": "OK", "version": "0.3"}

    def answer_timePermit(self, end, rest, fields, body):
        identity = end.identity(rest[0])
        date = control["date"]
        share = times(end.shares[0], point_of(end.dated(identity, date)))
        return 200, {"date": date, "timePermit": encoded(share), "signature": "cd" * 32, "storageId": identity.hex(),
                     "message": "OK", "version": "0.3"}

    def permit_two(self, end, identity, date):
        return encoded(times(end.shares[1], point_of(end.dated(identity, date))))

    def answer_storage(self, end, rest, fields, body):
        return 200, self.permit_two(end, bytes.fromhex(rest[2]), int(rest[1])) + "\n"

    def answer_timePermitTwo(self, end, rest, fields, body):
        identity = bytes.fromhex(fields["hash_mpin_id"])
        return 200, {"timePermit": self.permit_two(end, identity, control["date"]), "message": "OK"}

    def answer_pass1(self, end, rest, fields, body):
        challenge = secrets.randbelow(N)
        dated = decoded(body["UT"]) if body["UT"] else None
        end.passes[body["mpin_id"]] = (challenge, decoded(body["U"]), dated, control["date"])
        return 200, {"y": challenge.to_bytes(32, "big").hex(), "pass": 1, "message": "OK", "version": "0.3"}

    def answer_pass2(self, end, rest, fields, body):
        if body["mpin_id"] not in end.passes:
            return 500, ""
        proof = secrets.token_hex(16)
        end.proofs[proof] = (body, end.proves(body["mpin_id"], decoded(body["V"])))
        answer = {"authOTT": proof, "pass": 2, "version": "0.3", "unknown": [1, 2.50, {"kept": None}]}
        if body["OTP"]:
            answer["OTP"] = "123456"
        return 200, answer

    def verdict(self, end, body):
        request, isProven = end.proofs.pop(body["mpinResponse"]["authOTT"], (None, None))
        if request is None:
            return 408, ""
        user = end.users[request["mpin_id"]]
        if user["failures"] >= control["limit"]:
            return 410, ""
        if not isProven:
            user["failures"] += 1
            return (410 if user["failures"] >= control["limit"] else 401), ""
        user["failures"] = 0
        return 200, dict(control["verdict"])

    def answer_authenticate(self, end, rest, fields, body):
        return self.verdict(end, body)

    def answer_mobileAuthenticate(self, end, rest, fields, body):
        request, _ = end.proofs.get(body["mpinResponse"]["authOTT"], ({}, None))
        if request.get("WID") not in control["accessNumbers"]:
            return 412, ""
        return self.verdict(end, body)

    def answer_codeStatus(self, end, rest, fields, body):
        if body["status"] == "wid":
            return 200, {"PrerollId": "alice", "AppName": "Example", "AppLogoUrl": "https://example.org/logo.png"}
        return 200, {}

    def answer_logout(self, *_):
        return 200, ""


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.held = False
    server.base = f"http://127.0.0.1:{server.server_address[1]}"
    print(server.base, flush=True)
    server.serve_forever()
