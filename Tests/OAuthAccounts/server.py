"""An OAuth server whose answers a test chooses.

    server.py [PEM]      prints its address when it answers, and runs until it is killed; with TLS by the key and
                         certificate of a file

Below /NAME it describes itself as the issuer of that name, well or badly. Tokens are numbered; a refresh token works
once. /control reads and sets: counts of requests, the last form, whether the token endpoint waits, and what it answers.

With `canned` it answers from that table only: "METHOD /path" to {"status", "headers", "json" or "text", "gzip"}, or to
a list of such, given one after the other, of which the last one stays. BASE in them is the address of this server.
"""
import gzip
import http.server
import json
import ssl
import sys
import threading
import urllib.parse

control = {"counts": {}, "form": {}, "hold": False, "answer": None, "number": 0, "used": [], "rotates": True,
           "lifetime": 3600, "revoked": [], "apiTokens": [], "keys": [], "idToken": None, "grants": None,
           "canned": None, "forms": []}
released = threading.Condition()

ENDPOINTS = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys",
             "revocation_endpoint": "revoke", "introspection_endpoint": "introspect",
             "device_authorization_endpoint": "device", "registration_endpoint": "register",
             "userinfo_endpoint": "userinfo"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json", **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    @property
    def base(self):
        return self.server.base

    def describe(self, name):
        issuer = f"{self.base}/{name}"
        metadata = {"issuer": issuer} | {key: f"{issuer}/{end}" for key, end in ENDPOINTS.items()}
        if name == "other-issuer":
            metadata["issuer"] = f"{self.base}/good"
        if name == "huge":
            return self.answer(200, b'{"issuer":"' + b"x" * 2_000_000 + b'"}')
        if name == "redirecting":
            return self.answer(302, b"", Location=f"{self.base}/good/.well-known/openid-configuration")
        if name == "html":
            return self.answer(200, b"<html>Welcome</html>", "text/html")
        if name == "deep":
            return self.answer(200, b"[" * 100_000)
        if name == "plain":
            metadata["token_endpoint"] = "http://tokens.example/token"
        if name == "script":
            metadata["authorization_endpoint"] = "javascript:alert(1)"
        if name == "naming":
            metadata["authorization_response_iss_parameter_supported"] = True
        return self.answer(200, metadata)

    def canned(self, body=""):
        """Answers from the table, if there is one."""
        if control["canned"] is None or self.path == "/control":
            return False
        key = f"{self.command} {self.path.split('?')[0]}"
        self.count(key)
        control["forms"].append({"to": key} | dict(urllib.parse.parse_qsl(body, keep_blank_values=True)))
        control["form"] = {"body": body, "Authorization": self.headers.get("Authorization") or ""}
        found = control["canned"].get(key, {"status": 404, "text": "nothing here"})
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        text = found["text"] if "text" in found else json.dumps(found.get("json", {}))
        data = text.replace("BASE", self.base).encode()
        headers = found.get("headers", {})
        if found.get("gzip"):
            data, headers = gzip.compress(data), {"Content-Encoding": "gzip"}
        kind = "text/plain" if "text" in found else "application/json"
        self.answer(found.get("status", 200), data, kind, **headers)
        return True

    def do_GET(self):
        if self.canned():
            return None
        parts = self.path.split("?")[0].strip("/").split("/")
        if parts[0] == "control":
            return self.answer(200, {key: value for key, value in control.items()})
        if ".well-known" in parts:
            names = [part for part in parts if part not in (
                ".well-known", "openid-configuration", "oauth-authorization-server")]
            # One server has the one description, another the other.
            if names[0] == "good" and "oauth-authorization-server" in parts:
                return self.answer(404, b"", "text/plain")
            return self.describe(names[0])
        self.count(parts[-1])
        if parts[-1] == "keys":
            return self.answer(200, {"keys": control["keys"]})
        if parts[-1] == "api":
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            control["apiTokens"].append(token)
            if token in control["revoked"]:
                return self.answer(401, b"", **{"WWW-Authenticate": 'Bearer error="invalid_token"'})
            return self.answer(200, {"you": "are let in"})
        if parts[-1] == "userinfo":
            return self.answer(200, {"sub": "somebody-else"})
        return self.answer(404, b"", "text/plain")

    def do_DELETE(self):
        if self.canned():
            return
        self.count("delete")
        self.answer(204, b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.canned(body):
            return None
        if self.path == "/control":
            with released:
                control.update(json.loads(body))
                released.notify_all()
            return self.answer(200, {})
        end = self.path.split("/")[-1]
        if end == "register":
            self.count(end)
            return self.answer(201, {"client_id": "registered", "registration_access_token": "manage",
                                     "registration_client_uri": f"{self.base}/good/register/registered"})
        form = dict(urllib.parse.parse_qsl(body, keep_blank_values=True))
        control["form"] = form | {"Authorization": self.headers.get("Authorization") or ""}
        self.count(end if end != "token" else form.get("grant_type", "none"))
        if end == "token":
            with released:
                released.wait_for(lambda: not control["hold"], timeout=150)
        if control["answer"] and end == "token":
            status, text = control["answer"]
            headers = {"Location": f"{self.base}/elsewhere"} if status in (302, 307, 308) else {}
            return self.answer(status, text.encode(), **headers)
        if end == "token":
            return self.token(form)
        if end == "introspect":
            return self.answer(200, {"active": form.get("token") not in control["revoked"]})
        if end == "revoke":
            control["revoked"].append(form["token"])
            return self.answer(200, b"")
        if end == "device":
            return self.answer(200, {"device_code": "device-code", "user_code": "ABCD-EFGH", "interval": 1,
                                     "verification_uri": self.base + "/device", "expires_in": 60})
        return self.answer(404, b"", "text/plain")

    def token(self, form):
        grant = form["grant_type"]
        if grant == "refresh_token":
            # A token that was replaced is taken for a stolen one.
            if form["refresh_token"] in control["used"]:
                return self.answer(400, {"error": "invalid_grant", "error_description": "reused"})
            if control["rotates"]:
                control["used"].append(form["refresh_token"])
        control["number"] += 1
        number = control["number"]
        answer = {"access_token": f"access-{number}", "token_type": "Bearer", "expires_in": control["lifetime"]}
        if control["grants"] or form.get("scope"):
            answer["scope"] = control["grants"] or form["scope"]
        if grant not in ("client_credentials",) and (grant != "refresh_token" or control["rotates"]):
            answer["refresh_token"] = f"refresh-{number}"
        if control["idToken"]:
            answer["id_token"] = control["idToken"]
        return self.answer(200, answer)

    def count(self, name):
        control["counts"][name] = control["counts"].get(name, 0) + 1


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
server.base = f"http://127.0.0.1:{server.server_port}"
if len(sys.argv) > 1:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.base = f"https://localhost:{server.server_port}"
print(server.base, flush=True)
server.serve_forever()
