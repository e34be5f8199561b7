"""Asks for each route of the local API that a board without Bluetooth can answer with success.

    every_route.py SOCKET AUTHORITY OTHER TOKEN

The board is registered at a lab gateway whose certificate AUTHORITY (a file) has issued; OTHER is the identifier of a device
there, TOKEN a JWT of a user. Exit status 0 when each answer was the expected success.
"""
import html
import http.client
import json
import re
import socket
import ssl
import sys
import urllib.parse
import urllib.request

path, authority, other, token = sys.argv[1:]


class Board(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("localhost", timeout=60)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
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


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def browse(url, form=None):
    """One step of a browser. - Returns: where it is led to, or the form of the page with its address."""
    browser = urllib.request.build_opener(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority)), Stay)
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
    begun = ask("POST", f"{account}/login/browser", {"provider": "google"})
    ask("POST", f"{account}/login/browser/{begun['id']}", {"poll": True})
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    query = urllib.parse.urlencode({
        "client_id": begun["clientId"], "response_type": "code", "display": "template", "scope": "openid msso profile",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256", "state": "mine"})
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
    board.request("POST", f"{account}/login/prompted", json.dumps({"userName": "alice"}), {"Accept": "application/x-ndjson"})
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


# What is about an account is there for the default one, and by name for each.
ACCOUNTS = ["/v1", "/v1/accounts/gateway"]


for target in ["version", "status", "doctor", "accounts", "accounts/gateway", "proximity", "proximity/audit?count=5", "proximity/consents", "prompts", "board", "sensors",
               "dead-letters", "vault/slots", "openapi.json"]:
    ask("GET", f"/v1/{target}")
ask("POST", "/v1/board/button", {"pressed": True})
ask("POST", "/v1/board/button", {"pressed": False})
ask("POST", "/v1/board/button", {"milliseconds": 1})
ask("DELETE", "/v1/proximity/sharing")
ask("GET", "/v1/login/nearby")
ask("DELETE", "/v1/login/nearby")
ask("POST", "/v1/messages", {"topic": "a", "payload": "aGk=", "encoding": "base64", "qos": 0, "retain": None}, 202)
ask("POST", "/v1/messages/lines?topic=a&qos=1&retain=false", text="one\ntwo\n", status=202)
ask("POST", "/v1/messages/lines?topic=a", text="", status=202)
ask("POST", "/v1/send", {"device": other, "payload": "hello"}, 202)
for account in ACCOUNTS:
    ask("GET", f"{account}/token")
    ask("GET", f"{account}/user")
    ask("POST", f"{account}/call", {"method": "GET", "path": "/lab/hello", "headers": [{"name": "X-Lab", "value": "yes"}]})
for kind in ["application/x-ndjson", "text/event-stream"]:
    first_event("/v1/sensors/stream", kind)
    first_event("/v1/messages", kind)
    first_event("/v1/events", kind, lambda: ask("POST", "/v1/renew", {}))
for account in ACCOUNTS:
    log_in_by_browser(account)
    ask("GET", f"{account}/user")
    ask("GET", f"{account}/user/info")
    ask("GET", f"{account}/user/profile")
    ask("GET", f"{account}/user/session")
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
ask("POST", "/v1/reset", {})
ask("GET", "/v1/status")
ask("DELETE", "/v1/accounts/gateway")
ask("GET", "/v1/accounts")
