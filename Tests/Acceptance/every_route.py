"""Asks for each route of the local API that a board without Bluetooth can answer with success.

    every_route.py SOCKET AUTHORITY OTHER TOKEN

The board is registered at a lab gateway whose certificate AUTHORITY (a file) has issued; OTHER is the identifier of a
device there, TOKEN a JWT of a user. Exit status 0 when each answer was the expected success.
"""
import base64
import html
import http.client
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

path, authority, other, token = sys.argv[1:]


class Board(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("localhost", timeout=150)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(150)
        self.sock.connect(path)


def ask(method, target, body=None, status=200, text=None):
    board = Board()
    board.request(method, target, text if text is not None else None if body is None else json.dumps(body))
    answer = board.getresponse()
    content = answer.read()
    if answer.status != status:
        sys.exit(f"{method} {target}: {answer.status} in place of {status}: {content.decode(errors='replace')}")
    return json.loads(content)


def first_event(target, kind, cause=lambda: None):
    board = Board()
    board.request("GET", target, headers={"Accept": kind})
    answer = board.getresponse()
    cause()
    line = answer.readline()
    if answer.status != 200 or not line:
        sys.exit(f"GET {target}: {answer.status} {line}")
    board.close()


def first_event_of_post(target, body, wanted):
    """Reads a stream until an event, which has to come."""
    board = Board()
    board.request("POST", target, json.dumps(body), {"Accept": "application/x-ndjson"})
    answer = board.getresponse()
    events = [json.loads(line)["event"] for line in answer]
    if answer.status != 200 or events[-1:] != [wanted]:
        sys.exit(f"POST {target}: {answer.status} {events}")


def refuse_restore():
    """The store is in use, which is found once the export is there."""
    board = Board()
    board.request("POST", "/v1/vault/restore", json.dumps({"passphrase": "YSBsb25nIHBhc3NwaHJhc2U=", "bytes": 5}),
                  {"Accept": "application/x-ndjson"})
    answer = board.getresponse()
    events = []
    for line in answer:
        events.append(json.loads(line))
        if events[-1]["event"] == "upload":
            ask("POST", f"/v1/vault/restore/{events[-1]['data']['id']}", text="hello")
    if [event["event"] for event in events] != ["upload", "error"]:
        sys.exit(f"POST /v1/vault/restore: {events}")
    if events[1]["data"]["error"]["code"] != "vault.export-vault-in-use":
        sys.exit(f"POST /v1/vault/restore: {events}")


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def browse(url, form=None):
    """One step of a browser. - Returns: where it is led to, or the form of the page with its address."""
    browser = urllib.request.build_opener(
        urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority)), Stay)
    try:
        page = browser.open(url, urllib.parse.urlencode(form).encode() if form else None).read().decode()
    except urllib.error.HTTPError as error:
        if error.code != 302:
            sys.exit(f"{url}: {error.code} {error.read().decode()}")
        return error.headers["Location"], None
    action = html.unescape(re.search(r'<form[^>]*action="([^"]*)"', page)[1])
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page))
    return urllib.parse.urljoin(url, action), {name: html.unescape(value) for name, value in hidden.items()}


def log_in_by_browser(account):
    begun = ask("POST", f"{account}/login/browser", {})
    url, form = browse(begun["url"])
    while form is None:
        url, form = browse(url)
    url, form = browse(url, form | {"username": "alice", "password": "alice-password", "action": "login"})
    url, form = browse(url, form | {"action": "grant"})
    ask("POST", f"{account}/login/browser/{begun['id']}", {"answer": url})


def log_in_by_token(account):
    """Another program of the lab's machine got these: as a user of an identity provider, and as the board's client."""
    begun = ask("POST", f"{account}/login/browser", {"picture": True})
    ask("DELETE", f"{account}/login/browser/{begun['id']}")
    begun = ask("POST", f"{account}/login/browser", {"list": True})
    ask("DELETE", f"{account}/login/browser/{begun['id']}")
    begun = ask("POST", f"{account}/login/browser", {"provider": "google"})
    ask("POST", f"{account}/login/browser/{begun['id']}", {"poll": True})
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    query = urllib.parse.urlencode({
        "client_id": begun["clientId"], "response_type": "code", "display": "template", "scope": "openid msso profile",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256",
        "state": "mine"
    })
    origin = "/".join(begun["url"].split("/")[:3])
    url, form = browse(f"{origin}/auth/oauth/v2/authorize?{query}")
    while form is None:
        url, form = browse(url)
    url, form = browse(url, form | {"username": "alice", "password": "alice-password", "action": "login"})
    url, form = browse(url, form | {"action": "grant"})
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["code"][0]
    ask("POST", f"{account}/login/code", {"code": code, "verifier": verifier})
    ask("POST", f"{account}/login/jwt", {"token": token})


def log_in_by_prompt(account):
    board = Board()
    board.request("POST", f"{account}/login/prompted", json.dumps({"userName": "alice"}),
                  {"Accept": "application/x-ndjson"})
    answer = board.getresponse()
    for password in ["not-hers", "alice-password"]:
        asked = json.loads(answer.readline())
        if answer.status != 200 or asked["event"] != "prompt.asked":
            sys.exit(f"POST {account}/login/prompted: {answer.status} {asked}")
        prompt = asked["data"]
        ask("GET", "/v1/prompts")
        ask("GET", f"/v1/prompts/{prompt['id']}")
        ask("POST", f"/v1/prompts/{prompt['id']}", {"text": password})
        answered = json.loads(answer.readline())
        if answered["event"] != "prompt.answered":
            sys.exit(f"POST {account}/login/prompted: {answered}")
    end = json.loads(answer.readline())
    if end["event"] != "logged-in":
        sys.exit(f"POST {account}/login/prompted: {end}")


def answer_prompts(target, body, answers, end):
    """Answers what a stream asks, each in turn, until its last event."""
    board = Board()
    board.request("POST", target, json.dumps(body), {"Accept": "application/x-ndjson"})
    answer = board.getresponse()
    names, expected = [], ["prompt.asked", "prompt.answered"] * len(answers) + [end]
    for line in answer:
        event = json.loads(line)
        names.append(event["event"])
        if event["event"] == "prompt.asked":
            ask("POST", f"/v1/prompts/{event['data']['id']}", {"text": answers.pop(0)})
    if answer.status != 200 or names != expected:
        sys.exit(f"POST {target}: {answer.status} {names}")


def unlock_by_prompt(account):
    """Locks by a passcode that is asked for twice, and unlocks by one that is asked for until it is right."""
    for verb, answers in [("lock", ["2580", "2580"]), ("unlock", ["1234", "2580"])]:
        answer_prompts(f"{account}/session/{verb}/prompted", {"answerers": "user"}, answers, verb + "ed")


def lock_and_unlock(account):
    """The session of alice, who is logged in before and after."""
    ask("POST", f"{account}/session/lock", {"passcode": "2580"})
    ask("POST", f"{account}/session/lock", {"passcode": "2580"})
    for target in ["session/lock", "user"]:
        ask("GET", f"{account}/{target}")
    ask("GET", "/v1/status")
    ask("GET", "/v1/accounts")
    ask("POST", f"{account}/session/unlock", {"passcode": "2580"})
    unlock_by_prompt(account)
    ask("DELETE", f"{account}/session/lock")


def use_services(account):
    """Users and groups, storage, devices and applications; alice is logged in."""
    ask(
        "GET",
        f"{account}/users?filter=userName%20sw%20%22a%22&spelling=repeated"
        "&sortBy=userName&sortOrder=descending&startIndex=1&count=5"
    )
    for target in [
            "users/alice?by=id&attributes=userName", "users/alice/photo", "schemas/user", "schemas/group", "devices",
            "apps", "apps/timesheet/icon"
    ]:
        ask("GET", f"{account}/{target}")
    ask("POST", f"{account}/apps/timesheet/open")
    ask("POST", f"{account}/groups", {"displayName": "fitters", "members": ["alice"], "by": "name"}, 201)
    ask("GET", f"{account}/groups")
    ask("GET", f"{account}/groups/fitters")
    ask("POST", f"{account}/groups/fitters/members", {"user": "bob"})
    ask("DELETE", f"{account}/groups/fitters/members/bob")
    ask("DELETE", f"{account}/groups/fitters")
    for place in ["local", "cloud"]:
        ask("POST", f"{account}/storage/{place}",
            {"key": "k", "value": "aGk=", "encoding": "base64", "type": "a/b", "segment": "application-user"})
        ask("GET", f"{account}/storage/{place}?segment=application-user")
        ask("GET", f"{account}/storage/{place}/item?segment=application-user&key=k")
        ask("DELETE", f"{account}/storage/{place}/item?segment=application-user&key=k")
    ask("POST", f"{account}/storage/cloud", {"key": "k", "value": "hi", "sealed": True})
    ask("GET", f"{account}/storage/cloud/item?key=k&sealed=true")
    ask("DELETE", f"{account}/storage/cloud/item?key=k")
    ask("POST", f"{account}/storage/local", {"key": "k", "value": "hi", "password": "open sesame"})
    ask("POST", f"{account}/storage/local/item", {"key": "k", "password": "open sesame"})
    ask("DELETE", f"{account}/storage/local")
    ask("POST", f"{account}/device/metadata", {"name": "n", "value": "v"})
    ask("GET", f"{account}/device/metadata")
    ask("GET", f"{account}/device/metadata/item?name=n")
    ask("DELETE", f"{account}/device/metadata/item?name=n")
    ask("GET", f"{account}/device/metadata/item?name=n")
    ask("DELETE", f"{account}/device/metadata")


def stream_call(account):
    board = Board()
    board.request("POST", f"{account}/call/stream",
                  json.dumps({"method": "POST", "path": "/lab/upload", "upload": 5, "prompts": "user"}),
                  {"Accept": "application/x-ndjson"})
    answer = board.getresponse()
    events = []
    for line in answer:
        events.append(json.loads(line))
        if events[-1]["event"] == "upload":
            ask("POST", f"/v1/call/uploads/{events[-1]['data']['id']}", text="hello")
    names = [event["event"] for event in events]
    if names[:2] != ["upload", "response"] or names[-1] != "end" or events[1]["data"]["status"] != 200:
        sys.exit(f"POST {account}/call/stream: {events}")


# What is about an account is there for the default one, and by name for each.
ACCOUNTS = ["/v1", "/v1/accounts/gateway"]


for target in [
        "version", "status", "doctor", "accounts", "accounts/gateway", "current-account", "proximity",
        "proximity/audit?count=5", "proximity/consents", "prompts", "board", "sensors", "dead-letters", "outbox/empty",
        "vault", "vault/slots", "openapi.json"
]:
    ask("GET", f"/v1/{target}")
ask("POST", "/v1/vault/slots/1/test", {})
ask("POST", "/v1/vault/passcode/policy", {"min_length": 4})
ask("POST", "/v1/vault/passcode", {"passcode": "2580"})
first_event("/v1/vault/foreground", "application/x-ndjson")
ask("POST", "/v1/vault/lock/reset", {})
if not ask("POST", "/v1/vault/lock", {})["passcode"]["locked"]:
    sys.exit("POST /v1/vault/lock: it is not locked")
answer_prompts("/v1/vault/unlock/prompted", {}, ["2580"], "unlocked")
answer_prompts("/v1/vault/passcode/prompted", {"answerers": "user"}, ["abcd", "abcd"], "changed")
ask("POST", "/v1/vault/lock", {})
ask("POST", "/v1/vault/unlock", {"passcode": "abcd"})
ask("DELETE", "/v1/vault/passcode")
ask("POST", "/v1/vault/forgotten", {})
ask("POST", "/v1/vault/accept-rollback", {})
ask("POST", "/v1/vault/rekey", {"root": True, "drop": []})
if ask("POST", "/v1/vault/verify", {})["faults"]:
    sys.exit("POST /v1/vault/verify: there are faults")
first_event_of_post("/v1/vault/export", {"passphrase": "YSBsb25nIHBhc3NwaHJhc2U="}, "end")
refuse_restore()
ask("POST", "/v1/current-account", {"account": "gateway"})
ask("POST", "/v1/board/button", {"pressed": True})
ask("POST", "/v1/board/button", {"pressed": False})
ask("POST", "/v1/board/button", {"milliseconds": 1})
ask(
    "POST",
    "/v1/readings",
    {"readings": [{"name": "well.level", "value": 2.3, "unit": "m"}, {"name": "door", "value": None}]},
    status=202,
)
ask("POST", "/v1/readings", {"readings": []}, status=400)
ask("DELETE", "/v1/proximity/sharing")
ask("GET", "/v1/login/nearby")
ask("DELETE", "/v1/login/nearby")
ask("POST", "/v1/messages", {"topic": "a", "payload": "aGk=", "encoding": "base64", "qos": 0, "retain": None}, 202)
ask("POST", "/v1/messages/lines?topic=a&qos=1&retain=false", text="one\ntwo\n", status=202)
ask("POST", "/v1/messages/lines?topic=a", text="", status=400)
# Messages that wait: the agent's own, sent again until the standing subscriptions are there.
while not ask("GET", "/v1/inbox/waiting?after=0&limit=10")["messages"]:
    ask("POST", "/v1/messages", {"topic": "waiting", "payload": "for a program"}, 202)
for kind in ["text/event-stream", "application/x-ndjson"]:
    first_event("/v1/inbox/waiting/stream", kind)
ask("GET", "/v1/inbox")
ask(
    "POST", "/v1/inbox", {
        "name": "added", "filter": "added/#", "raw": False, "qos": 1, "limitBytes": 65536, "limitMessages": 10,
        "maxAgeHours": 1, "retained": False
    })
ask("GET", "/v1/inbox")
ask("DELETE", "/v1/inbox/added")
metrics = Board()
metrics.request("GET", "/v1/metrics", headers={"Accept": "application/json"})
answer = metrics.getresponse()
if answer.status != 200 or not json.load(answer)["metrics"]:
    sys.exit(f"GET /v1/metrics: {answer.status}")
ask("GET", "/v1/status")
ask("POST", "/v1/inbox/waiting/acknowledge", {"id": ask("GET", "/v1/inbox/waiting")["messages"][0]["id"], "only": True})
ask("DELETE", "/v1/inbox/waiting")
ask("GET", "/v1/actions")
# It has no runner: an attempt is made by nobody.
ask("GET", "/v1/actions/act")
ask("POST", "/v1/actions/act/retry", {})
ask("POST", "/v1/send", {"device": other, "payload": "hello"}, 202)
ask("GET", "/v1/console")
ask("DELETE", "/v1/console")
ask("GET", "/v1/logs")
ask("POST", "/v1/send", {"group": "household", "members": ["alice", "bob"], "payload": "hello"}, 202)
for account in ACCOUNTS:
    ask("GET", f"{account}/token")
    ask("GET", f"{account}/token?as=board&scope=openid")
    ask("POST", f"{account}/token/refresh", {"as": "board"})
    ask("DELETE", f"{account}/token")
    ask("GET", f"{account}/user")
    ask("POST", f"{account}/call",
        {"method": "GET", "path": "/lab/hello", "headers": [{"name": "X-Lab", "value": "yes"}]})
    ask(
        "POST", f"{account}/call", {
            "method": "POST", "path": "/lab/echo", "query": [{"name": "a", "value": "b c"}],
            "form": [{"name": "d", "value": "e&f"}], "accept": "json", "as": "board", "timeoutSeconds": 30
        })
    stream_call(account)
ask("GET", "/v1/grants")
granted = ask("POST", "/v1/grants", {"uid": 1000, "as": ["board", "user"], "paths": ["/lab/*"], "token": True})
ask("POST", "/v1/grants", {"unit": "sensors.service", "verdict": "never"})
ask("GET", "/v1/grants")
ask("DELETE", f"/v1/grants/{granted['id']}")
ask("GET", "/v1/grants/log")
ask("GET", "/v1/hosts")
ask("POST", "/v1/hosts", {"host": "weather.example", "publicAuthorities": True, "public": True, "timeoutSeconds": 5})
ask("GET", "/v1/hosts")
ask("DELETE", "/v1/hosts/weather.example:443")
ask("POST", "/v1/brokers", {"name": "spare", "url": "mqtt://127.0.0.1:1", "userName": "board", "password": "secret"})
ask("DELETE", "/v1/accounts/spare")
ask("GET", "/v1/brokers")
ask("POST", "/v1/brokers/plain/messages", {"topic": "a/b", "payload": "hello", "qos": 1}, 202)
ask("POST", "/v1/brokers/plain/messages/lines?topic=a&qos=0", text="one\ntwo\n", status=202)
first_event("/v1/brokers/plain/messages?filter=a/%23", "application/x-ndjson")
ask("GET", "/v1/brokers")
ask("POST", "/v1/brokers/plain/disconnect", {})
ask("POST", "/v1/keys", {"name": "partner"})
ask("GET", "/v1/keys")
ask("POST", "/v1/call", {"method": "POST", "path": "/lab/echo", "json": {"n": 1}, "sign": True})
ask(
    "POST", "/v1/call", {
        "method": "POST", "path": "/lab/echo", "text": "hello", "sign": {
            "key": "partner", "claims": {"site": "harbor"}, "audience": "somebody", "lifetimeSeconds": 60,
            "notBefore": 0, "wrap": "json"
        }
    })
ask(
    "POST", "/v1/sign", {
        "json": {"n": 1}, "key": "partner", "claims": {"iss": "board-7"}, "audience": "https://a.example/orders",
        "lifetimeSeconds": 60, "notBefore": 0, "as": "board"
    })
ask("POST", "/v1/accounts/gateway/sign", {"text": "hello"})
ask("DELETE", "/v1/keys/partner")

identity = subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "-", "-subj", "/CN=partner", "-days", "30"],
    check=True, capture_output=True).stdout
ask(
    "POST", "/v1/certificates", {
        "file": base64.b64encode(identity).decode(), "password": "", "name": "partner", "hosts": ["a.example"]
    })
ask("GET", "/v1/certificates")
ask("GET", "/v1/certificates/partner")
ask("POST", "/v1/certificates/partner/use", {"hosts": ["b.example:8443"]})
ask("GET", "/v1/status")
made = ask(
    "POST", "/v1/certificates/made/request", {"commonName": "board 7", "key": "software", "algorithm": "p256"})
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "ca.pem").write_bytes(identity)
    issued = subprocess.run(
        ["openssl", "x509", "-req", "-CA", "ca.pem", "-CAkey", "ca.pem", "-set_serial", "1"], check=True,
        capture_output=True, cwd=folder, input=made["request"].encode()).stdout
ask("POST", "/v1/certificates/made/install", {"certificates": issued.decode()})
ask("DELETE", "/v1/certificates/made")
ask("DELETE", "/v1/certificates/partner")
digest = ask(
    "POST", "/v1/crypto/hash", {
        "text": "mypassword", "encoding": "text", "algorithm": "SaltedSHA-256", "salt": "A1B2C3", "prefix": True,
        "appendSalt": True
    })["digest"]
ask("POST", "/v1/crypto/hash", {"text": "a", "algorithm": "SaltedSHA-256", "saltBits": 24, "uid": os.getuid()})
ask("POST", "/v1/crypto/hash", {"text": "a", "algorithm": "SaltedSHA-256", "saltBytes": "AAEC"})
ask("POST", "/v1/crypto/verify", {"text": "mypassword", "digest": digest, "legacy": False})
ask("POST", "/v1/crypto/keys", {"name": "photos", "kind": "aes-256", "keeper": "software", "level": "Always"})
ask("POST", "/v1/crypto/keys", {"name": "orders", "kind": "rsa-2048"})
ask("GET", "/v1/crypto/keys")
ask("GET", "/v1/crypto/keys/orders")
sealed = ask("POST", "/v1/crypto/encrypt", {"text": "hello", "key": "photos"})["ciphertext"]
ask("POST", "/v1/crypto/decrypt", {"ciphertext": sealed, "key": "photos"})
own = {"secret": "AAECAwQFBgcICQoLDA0ODw==", "algorithm": "AES", "legacy": False}
old = ask("POST", "/v1/crypto/encrypt", {"text": "hello", **own, "prefix": True})
ask("POST", "/v1/crypto/decrypt", {"ciphertext": old["ciphertext"], "vector": old["vector"], **own})
signature = ask("POST", "/v1/crypto/sign", {"text": "hello", "key": "orders", "algorithm": "PS256"})["signature"]
ask(
    "POST", "/v1/crypto/check", {
        "text": "hello", "key": "orders.public", "algorithm": "PS256", "signature": signature
    })
wrapped = ask("POST", "/v1/crypto/wrap", {"text": "secret", "key": "orders"})["wrapped"]
ask("POST", "/v1/crypto/unwrap", {"wrapped": wrapped, "key": "orders.private", "legacy": False})
ask("DELETE", "/v1/crypto/keys/orders")
ask(
    "POST", "/v1/credentials", {
        "key": "mail", "user": "alice", "tenant": "plant", "value": "secret", "encoding": "text", "level": "Always",
        "new": True
    })
ask(
    "POST", "/v1/credentials/mail/properties", {
        "name": "server", "value": "mail.example", "label": "Server", "description": "where it is"
    })
ask("GET", "/v1/credentials")
ask("GET", "/v1/credentials/mail?as=text")
ask("DELETE", "/v1/credentials/mail/properties/server")
ask("DELETE", "/v1/credentials/mail?forget=true")
ask("GET", "/v1/location")
for kind in ["application/x-ndjson", "text/event-stream"]:
    first_event("/v1/sensors/stream", kind)
    first_event("/v1/messages", kind)
    first_event("/v1/logs/stream", kind)
    first_event("/v1/events", kind, lambda: ask("POST", "/v1/renew", {}))
ask("POST", "/v1/login", {"userName": "alice", "password": "alice-password"})
ask("POST", "/v1/user/messages", {"topic": "a", "payload": "hello"}, 202)
ask("POST", "/v1/user/messages/lines?topic=a", text="one\ntwo\n", status=202)
ask("POST", "/v1/user/send", {"user": "bob", "payload": "hello"}, 202)
first_event("/v1/user/messages", "application/x-ndjson")
ask("GET", "/v1/status")
ask("POST", "/v1/logout")
for account in ACCOUNTS:
    log_in_by_browser(account)
    ask("GET", f"{account}/user")
    ask("GET", f"{account}/user/info")
    ask("GET", f"{account}/user/profile")
    ask("GET", f"{account}/user/session")
    use_services(account)
    lock_and_unlock(account)
    ask("GET", "/v1/status")
    ask("POST", f"{account}/logout")
    log_in_by_token(account)
    ask("POST", f"{account}/logout", {"allPrograms": False})
    log_in_by_prompt(account)
    ask("POST", f"{account}/logout")
    ask("POST", f"{account}/login", {"userName": "alice", "password": "alice-password"})
    ask("POST", f"{account}/logout", {"force": False})
    ask("POST", f"{account}/renew", {})
    ask("POST", f"{account}/deregister")
    # Whoever logs in registers the board again.
    ask("POST", f"{account}/login", {"userName": "alice", "password": "alice-password"})
    ask("POST", f"{account}/reset", {})
    ask("POST", f"{account}/login", {"userName": "alice", "password": "alice-password"})
# Accounts at an OAuth server of the tests, which agrees to everything.
script = pathlib.Path(__file__).parent.parent / "OAuthAccounts" / "server.py"
with subprocess.Popen([sys.executable, "-B", str(script)], stdout=subprocess.PIPE, text=True) as server:
    try:
        issuer = server.stdout.readline().strip() + "/good"
        for name, grant in [("device", "device_code"), ("jwt", "jwt_bearer"), ("web", "authorization_code")]:
            ask(
                "POST", "/v1/accounts", {
                    "name": name, "issuer": issuer, "clientID": "board", "clientSecret": "of-the-board", "grant": grant,
                    "scope": "a", "resources": [issuer]
                })
        for members in [{"scope": "a"}, {"picture": True}]:
            first_event_of_post("/v1/accounts/device/login/device", members, "logged-in")
        ask("POST", "/v1/accounts/jwt/login/assertion", {"assertion": "a.b.c"})
        ask("POST", "/v1/accounts/jwt/token", {"scope": "a"})
        ask("POST", "/v1/accounts/jwt/introspect", {})
        begun = ask("POST", "/v1/accounts/web/login/browser", {})
        state = urllib.parse.parse_qs(urllib.parse.urlsplit(begun["url"]).query)["state"][0]
        ask("POST", f"/v1/accounts/web/login/browser/{begun['id']}",
            {"answer": f"http://127.0.0.1/callback?code=c&state={state}"})
        begun = ask("POST", "/v1/accounts/web/login/browser", {"loopbackPort": 4711})
        ask("DELETE", f"/v1/accounts/web/login/browser/{begun['id']}")
        for name in ["device", "jwt", "web"]:
            for target in ["", "/user", "/user/info", "/token"]:
                ask("GET", f"/v1/accounts/{name}{target}")
            ask("POST", f"/v1/accounts/{name}/call", {"method": "GET", "path": "/api"})
        ask("GET", "/v1/status")
        ask("GET", "/v1/doctor")
        ask("POST", "/v1/accounts/web/logout", {})
        ask("GET", "/v1/accounts/web")
        for name in ["device", "jwt", "web"]:
            ask("DELETE", f"/v1/accounts/{name}?force=true")
    finally:
        server.kill()
gateways = ask("GET", "/v1/gateways")["gateways"]


def answer_by_prompts(target, body, answers, end):
    """Reads a stream, and answers what it asks."""
    board = Board()
    board.request("POST", target, json.dumps(body), {"Accept": "application/x-ndjson"})
    answer = board.getresponse()
    names = []
    for line in answer:
        event = json.loads(line)
        names.append(event["event"])
        if event["event"] == "prompt.asked":
            ask("POST", f"/v1/prompts/{event['data']['id']}", {"text": answers.pop(0)})
    if answer.status != 200 or names[-1] != end or answers:
        sys.exit(f"POST {target}: {answer.status} {names}")


# The lab's M-Pin back end, which verifies everybody.
backend = {"url": gateways[0]["url"] + "/mpin", "authorities": pathlib.Path(authority).read_text()}
ask("POST", "/v1/mpin/test", backend)
ask("POST", "/v1/mpin/service",
    {"code": backend["url"] + "/#" + "0" * 32, "authorities": backend["authorities"], "headers": {"X-Board": "7"}})
ask("POST", "/v1/accounts/door/mpin", backend | {"prefix": "rps", "headers": {"X-Board": "7"}, "clientID": "board"})
ask("POST", "/v1/accounts/door/mpin/test")
users = "/v1/accounts/door/mpin/users"
for name in ["alice", "bob"]:
    ask("POST", users, {"user": name, "deviceName": "board"})
    ask("POST", f"{users}/{name}/register", {"userData": "x"})
    ask("POST", f"{users}/{name}/confirm", {"pushToken": "y"})
ask("GET", users)
ask("POST", f"{users}/alice/finish", {"pin": "2580"})
answer_by_prompts(f"{users}/bob/finish/prompted", {"answerers": "user"}, ["1379", "1379"], "registered")
for way in ["login", "otp", "mfa"]:
    ask("POST", f"{users}/alice/login", {"pin": "2580", "by": way})
answer_by_prompts(f"{users}/bob/login/prompted", {"by": "login"}, ["2468", "1379"], "logged-in")
ask("POST", "/v1/accounts/door/mpin/session", {"accessCode": "0" * 32})
ask("POST", f"{users}/alice/logout")
ask("GET", "/v1/accounts/door")
ask("GET", "/v1/status")
ask("GET", "/v1/doctor")
ask("DELETE", f"{users}/bob")
ask("DELETE", "/v1/accounts/door")
for account in ACCOUNTS:
    ask("GET", f"{account}/gateway")
    ask("POST", f"{account}/gateway/stop", {})
    ask("GET", "/v1/status")
    ask("GET", "/v1/doctor")
    ask("POST", f"{account}/gateway/start", {})
    ask("POST", f"{account}/gateway/use", {"gateway": gateways[0]["url"]})
ask("POST", "/v1/reset", {})
ask("GET", "/v1/status")
ask("DELETE", "/v1/accounts/gateway")
ask("GET", "/v1/accounts")
