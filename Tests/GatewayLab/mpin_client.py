"""A client of M-Pin in plain Python, written from the protocol alone (MPIN 2, 5), which proves that the lab is right.

mpin_scenarios.py uses it.
"""
import hmac
import json
import secrets
import ssl
import sys
import urllib.error
import urllib.request

import mpin_curve as curve

BASE, CA, ADMIN, TOKEN = sys.argv[1:5]
TLS = ssl.create_default_context(cafile=CA)


class Answer:
    def __init__(self, status, body):
        self.status, self.body = status, body

    def __getitem__(self, name):
        return json.loads(self.body)[name]


def expect(fact, text):
    if not fact:
        sys.exit(f"expected: {text}")


def send(method, url, data=None, headers=None, context=None):
    request = urllib.request.Request(url, method=method, data=data, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=150, context=context) as answer:
            return Answer(answer.status, answer.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read())


def ask(method, url, body=None, headers=None):
    fields = dict(headers or {})
    if body is not None:
        fields = {"Content-Type": "application/json; charset=UTF-8", "Accept": "text/plain", **fields}
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return send(method, url, data, fields, TLS)


def admin(method, path, body=None):
    answer = send(method, f"{ADMIN}/api/{path}", json.dumps(body or {}).encode() if method == "POST" else None,
                  {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"})
    expect(answer.status == 200, f"{method} {path} succeeds: {answer.status} {answer.body}")
    return json.loads(answer.body)


def settings(**members):
    admin("POST", "mpin/settings", members)


def fault(endpoint, lie):
    admin("POST", "faults", {"kind": "lie", "lie": lie, "endpoint": endpoint, "times": 1})


def signature(*parts):
    """As the D-TA and the relying party sign (MPIN 4.4)."""
    key = admin("GET", "mpin/secrets")["app_key"].encode()
    return hmac.new(key, "".join(parts).encode(), "sha256").hexdigest()


def master():
    held = admin("GET", "mpin/secrets")
    return int(held["master_secret1"], 16), int(held["master_secret2"], 16)


def shown(user):
    """What the lab's page shows of a user."""
    return next(u for u in admin("GET", "state")["mpin"]["users"] if u["id"] == user.id)


def act(user, action, **members):
    admin("POST", f"mpin/users/{user.id}/{action}", members)


class User:
    def __init__(self, name="alice@example.org", headers=None, **members):
        self.name, self.headers = name, headers or {}
        self.settings = json.loads(self.ask("GET", BASE + "/rps/clientSettings").body)
        for member, value in self.settings.items():
            if isinstance(value, str):
                value = value.replace("wss://", "https://", 1).replace("ws://", "http://", 1)
                self.settings[member] = BASE + value if value.startswith("/") else value
        self.members = members
        self.token = self.share = None

    def ask(self, method, url, body=None):
        return ask(method, url, body, self.headers)

    def register(self):
        answer = self.ask("PUT", self.settings["registerURL"], {"userId": self.name, "mobile": 1, **self.members})
        return self.took(answer)

    def restart(self):
        return self.took(self.ask("PUT", f"{self.settings['registerURL']}/{self.id}",
                                  {"userId": self.name, "mobile": 1, "regOTT": self.reg_ott}))

    def took(self, answer):
        if answer.status == 200:
            self.id, self.reg_ott, self.is_active = answer["mpinId"], answer["regOTT"], answer["active"]
            self.hash = curve.digest(bytes.fromhex(self.id))
            self.point = curve.point_of(self.hash)
        return answer

    def first_share(self, query=""):
        self.share = self.ask("GET", f"{self.settings['signatureURL']}/{self.id}?regOTT={self.reg_ott}{query}")
        return self.share

    def second_share(self, params=None):
        return self.ask("GET", f"{self.settings['certivoxURL']}clientSecret?{params or self.share['params']}")

    def finish(self, second, pin="1234"):
        secret = curve.add(curve.decode(self.share["clientSecretShare"]), curve.decode(second["clientSecret"]))
        self.token = curve.add(secret, curve.negative(curve.times(curve.factor(pin), self.point)))

    def enroll(self, pin="1234"):
        expect(self.register().status == 200, "the registration is taken")
        if not self.is_active:
            act(self, "activate")
        expect(self.first_share().status == 200, "share 1 is given")
        self.finish(self.second_share(), pin)
        return self

    def permit(self, from_storage=True):
        """The day, and the sum of both shares."""
        first = self.ask("GET", f"{self.settings['timePermitsURL']}/{self.id}")
        if first.status != 200:
            return first
        expect(first["storageId"] == self.hash.hex(), "the storage knows the user by the hash")
        if from_storage:
            stored = self.ask("GET", "/".join([self.settings["timePermitsStorageURL"], self.settings["appID"],
                                               str(first["date"]), first["storageId"]]))
            expect(stored.status == 200, "the permit is stored")
            second = stored.body.decode().strip()
        else:
            second = self.ask("GET", f"{self.settings['certivoxURL']}timePermit?hash_mpin_id={first['storageId']}"
                              f"&app_id={self.settings['appID']}&mobile=1&signature={first['signature']}")["timePermit"]
        return first["date"], curve.add(curve.decode(first["timePermit"]), curve.decode(second))

    def commit(self, permit):
        self.x = secrets.randbelow(curve.N - 1) + 1
        self.day, self.permitted = permit or (0, None)
        base = self.point
        dated = ""
        if self.day:
            base = curve.add(base, curve.point_of(curve.digest(self.hash, self.day)))
            dated = curve.encode(curve.times(self.x, base))
        self.base, commitment = base, curve.encode(curve.times(self.x, self.point))
        self.sent = dated or commitment
        return self.ask("POST", self.settings["mpinAuthServerURL"] + "/pass1",
                        {"pass": 1, "mpin_id": self.id, "UT": dated, "U": commitment})

    def prove(self, y, pin, session="0", otp=False):
        secret = curve.add(self.token, curve.times(curve.factor(pin), self.point))
        self.y, self.validator = int(y, 16), None
        self.validator = curve.negative(curve.times(self.x + self.y, curve.add(secret, self.permitted)))
        return self.ask("POST", self.settings["mpinAuthServerURL"] + "/pass2",
                        {"pass": 2, "OTP": otp, "WID": session, "V": curve.encode(self.validator), "mpin_id": self.id})

    def judged(self, reply, session="0"):
        url = self.settings["authenticateURL" if session == "0" else "mobileAuthenticateURL"]
        return self.ask("POST", url, b'{"mpinResponse":' + reply.body + b"}")

    def log_in(self, pin="1234", session="0", otp=False, permit="ask"):
        if permit == "ask":
            permit = self.permit() if self.settings["usePermits"] else None
        first = self.commit(permit)
        expect(first.status == 200, f"pass 1 is answered: {first.status} {first.body}")
        self.reply = self.prove(first["y"], pin, session, otp)
        expect(self.reply.status == 200, f"pass 2 is answered: {self.reply.status} {self.reply.body}")
        return self.judged(self.reply, session)


def clean():
    expect(admin("GET", "state")["mpin"]["violations"] == [], "the lab found nothing wrong with this client")
