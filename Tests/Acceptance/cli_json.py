"""Compares what commands print with --json to its schemas.

    cli_json.py LATCHKEY SCHEMAS SOCKET SETTINGS FOLDER

A daemon listens on SOCKET, registered and with the settings in the file SETTINGS, which is changed; new files go to
FOLDER. Exit status 0 when everything that was printed is as SCHEMAS and the daemon's own document say.
"""
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys

from jsonschema import Draft202012Validator

latchkey, schemas, path, settings, folder = sys.argv[1:]
own = json.loads(pathlib.Path(schemas).read_text())
Draft202012Validator.check_schema(own)
faults = []


class Board(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)


board = Board("localhost")
board.request("GET", "/v1/openapi.json")
document = json.load(board.getresponse())


def run(words, daemon=path):
    variables = {**os.environ, "LATCHKEY_SOCKET": daemon, "LATCHKEY_CONFIG": settings}
    return subprocess.run([latchkey, *words, "--json"], env=variables, capture_output=True, text=True, timeout=60)


def judge(words, text, schema, definitions):
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return faults.append(f"{' '.join(words)}: {error} in: {text}")
    validator = Draft202012Validator({"allOf": [schema], **definitions})
    faults.extend(
        f"{' '.join(words)}: {fault.json_path}: {fault.message}"[:400] for fault in validator.iter_errors(value))


def by_command(name, *words, status=0, daemon=path):
    words = [*name.split(), *words]
    result = run(words, daemon)
    if result.returncode != status:
        return faults.append(f"{' '.join(words)} ended with {result.returncode}: {result.stderr}")
    judge(words, result.stdout, own["$defs"][name], {"$defs": own["$defs"]})


def by_route(route, *words):
    result = run(words)
    if result.returncode != 0:
        return faults.append(f"{' '.join(words)} ended with {result.returncode}: {result.stderr}")
    schema = document["paths"][route]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    judge(words, result.stdout, schema, {"components": document["components"]})


by_route("/v1/version", "version")
by_route("/v1/status", "status")
by_route("/v1/logs", "logs")
by_route("/v1/accounts", "accounts", "list")
by_route("/v1/current-account", "accounts", "current")
by_route("/v1/accounts/{account}", "status", "--account", "gateway")
by_route("/v1/gateways", "gateway", "list")
by_route("/v1/hosts", "hosts")
by_route("/v1/grants", "grants")
by_route("/v1/keys", "keys")
by_route("/v1/brokers", "brokers")
by_route("/v1/inbox", "inbox")
by_route("/v1/actions", "actions")
by_route("/v1/dead-letters", "dead-letters")
by_route("/v1/prompts", "prompts")
by_route("/v1/proximity/consents", "consent")
by_route("/v1/vault/slots", "vault", "slots")
by_route("/v1/token", "token")

by_command("config show")
by_command("config get", "broker.port")
by_command("config set", "broker.port", "1883")
by_command("config check")
by_command("doctor", daemon=f"{folder}/nobody.sock", status=69)
by_command("explain", "agent.not-enrolled")
by_command("board check")
by_command("wait", "--for", "registered")
by_command("support-bundle", "--out", f"{folder}/bundle.tar.gz")

for words, status in [
    (["status", "--bogus"], 64), (["config", "get", "nothing"], 65), (["config", "check", "/nope"], 78),
    (["wait", "--for", "user-logged-in", "--timeout", "0"], 75), (["status", "--account", "nobody"], 1),
]:
    result = run(words)
    if result.returncode != status or result.stdout:
        faults.append(f"{' '.join(words)} ended with {result.returncode}, not {status}: {result.stdout}{result.stderr}")
    judge(words, result.stderr, own["$defs"]["error"], {"$defs": own["$defs"]})

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(1 if faults else 0)
