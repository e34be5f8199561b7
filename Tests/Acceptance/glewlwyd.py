"""Runs glewlwyd, an OpenID Connect server that shares no code with this project, on the loopback interface.

    glewlwyd.py serve FOLDER           runs it; prints the issuer when it answers, and ends with it
    glewlwyd.py agree FOLDER URL       what alice's browser does at URL; prints where it ends
    glewlwyd.py client FOLDER ID JSON  changes a client, such as to give it a key

FOLDER holds the database. The clients are in CLIENTS; alice is the user.
"""
import ctypes
import http.cookiejar
import json
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

SCOPES = ["openid", "orders", "offers"]
REDIRECT = "http://127.0.0.1/callback"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


def client(name, types, secret=None, **more):
    methods = ["client_secret_basic", "client_secret_post"] if secret else ["none"]
    return {"client_id": name, "name": name, "confidential": secret is not None, "enabled": True, "scope": SCOPES,
            "redirect_uri": [REDIRECT], "authorization_type": types, "token_endpoint_auth_method": methods,
            "client_secret": secret or ""} | more


CLIENTS = [
    client("code-board", ["code", "refresh_token"]),
    client("device-board", ["device_authorization", "refresh_token"]),
    client("password-board", ["password", "refresh_token"], "password-secret"),
    client("own-board", ["client_credentials"], "own-secret"),
    client("key-board", ["client_credentials"], "unused", token_endpoint_auth_method=["private_key_jwt"]),
    client("token-board", ["token", "id_token"]),
]


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """A browser with cookies, which stops at each redirect."""

    def __init__(self, base):
        self.base = base
        self.opener = urllib.request.build_opener(
            Stay, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def ask(self, method, path, body=None):
        request = urllib.request.Request(
            urllib.parse.urljoin(self.base + "/", path), method=method,
            data=None if body is None else json.dumps(body).encode())
        if body is not None:
            request.add_header("Content-Type", "application/json")
        try:
            answer = self.opener.open(request, timeout=150)
        except urllib.error.HTTPError as error:
            if error.code not in (302, 303):
                sys.exit(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}")
            answer = error
        return answer.headers.get("Location"), answer.read()

    def log_in(self, user, password):
        self.ask("POST", "api/auth/", {"username": user, "password": password})


def setup(base):
    admin = Browser(base)
    admin.log_in("admin", "password")
    for scope in SCOPES[1:]:
        admin.ask("POST", "api/scope/", {"name": scope, "display_name": scope, "description": scope,
                                         "password_required": False, "scheme": {}})
    admin.ask("POST", "api/user/", {"username": "alice", "name": "Alice", "password": "alice-password",
                                    "email": "alice@example.com", "scope": SCOPES, "enabled": True})
    for entry in CLIENTS:
        admin.ask("POST", "api/client/", entry)
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    on = dict.fromkeys([
        "allow-non-oidc", "auth-type-client-enabled", "auth-type-code-enabled", "auth-type-token-enabled",
        "auth-type-id-token-enabled", "auth-type-password-enabled", "auth-type-device-enabled",
        "auth-type-refresh-enabled", "introspection-revocation-allowed",
        "introspection-revocation-allow-target-client", "pkce-allowed", "pkce-required", "jwks-show",
        "register-client-allowed", "register-client-management-allowed", "request-parameter-allow"], True)
    admin.ask("POST", "api/mod/plugin/", {
        "module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": on | {
            "iss": base + "/api/oidc", "jwt-type": "rsa", "jwt-key-size": "256", "key": private, "cert": public,
            "access-token-duration": 3600, "refresh-token-duration": 86400, "code-duration": 600,
            "refresh-token-rolling": True, "refresh-token-one-use": "always", "pkce-method-plain-allowed": False,
            "pkce-scopes": [], "device-authorization-expiration": 600, "device-authorization-interval": 1,
            "register-client-auth-scope": [], "register-client-credentials-scope": ["orders", "offers"],
            "introspection-revocation-auth-scope": [],
            "client-jwks-parameter": "jwks", "client-pubkey-parameter": "pubkey", "subject-type": "public",
            "name-claim": "on-demand", "email-claim": "no", "scope": [], "additional-parameters": [], "claims": []}})
    alice = Browser(base)
    alice.log_in("alice", "alice-password")
    for entry in CLIENTS:
        alice.ask("PUT", "api/auth/grant/" + entry["client_id"], {"scope": " ".join(SCOPES)})


def serve(folder):
    schema = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
    database = sqlite3.connect(folder / "glewlwyd.db")
    database.executescript(schema.read_text())
    database.close()
    # The system gives its port to nobody who asks for any, and glewlwyd gets it by its number.
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    port = held.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    (folder / "base").write_text(base)
    modules = "/usr/lib/glewlwyd"
    (folder / "glewlwyd.conf").write_text(f'''
port={port}
bind_address="127.0.0.1"
external_url="{base}"
login_url="login.html"
api_prefix="api"
static_files_path="/usr/share/glewlwyd/webapp/"
log_mode="file"
log_level="WARNING"
log_file="{folder}/log"
cookie_domain="127.0.0.1"
cookie_secure=0
session_expiration=86400
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="{modules}/user"
user_middleware_module_path="{modules}/user_middleware"
client_module_path="{modules}/client"
user_auth_scheme_module_path="{modules}/scheme"
plugin_module_path="{modules}/plugin"
hash_algorithm="SHA512"
database = {{ type = "sqlite3" path = "{folder}/glewlwyd.db" }};
''')

    def end_with_parent():
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)

    process = subprocess.Popen(["glewlwyd", f"--config-file={folder}/glewlwyd.conf"], preexec_fn=end_with_parent)
    for _ in range(3000):
        try:
            urllib.request.urlopen(base + "/config", timeout=150)
            break
        except urllib.error.HTTPError:
            break
        except OSError:
            if process.poll() is not None:
                sys.exit(f"glewlwyd ended: {(folder / 'log').read_text()}")
            time.sleep(0.05)
    setup(base)
    print(base + "/api/oidc", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    sys.exit(process.wait())


def agree(folder, url):
    browser = Browser((folder / "base").read_text())
    browser.log_in("alice", "alice-password")
    # The login page would ask for consent and come back with this mark.
    location, page = browser.ask("GET", url + ("&" if "?" in url else "?") + "g_continue")
    if location is None:
        sys.exit(f"{url}: no redirect: {page[:400]!r}")
    print(location)


def change(folder, name, changes):
    admin = Browser((folder / "base").read_text())
    admin.log_in("admin", "password")
    entry = next(entry for entry in CLIENTS if entry["client_id"] == name)
    admin.ask("PUT", "api/client/" + name, entry | json.loads(changes))


if __name__ == "__main__":
    job, folder, *rest = sys.argv[1:]
    {"serve": serve, "agree": agree, "client": change}[job](pathlib.Path(folder), *rest)
