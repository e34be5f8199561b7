"""Compares what commands print with --json to its schemas.

    cli_json.py LATCHKEY SCHEMAS SOCKET SETTINGS FOLDER

A daemon listens on SOCKET, registered and with the settings in the file SETTINGS, which is changed; new files go to
FOLDER. Exit status 0 when everything that was printed is as SCHEMAS and the daemon's own document say. Commands that
this leaves out are in other tests, whose output deploy/check-answers compares.
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
faults = []


class Board(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)


board = Board("localhost")
board.request("GET", "/v1/openapi.json")
document = json.load(board.getresponse())
definitions = json.loads(pathlib.Path(schemas).read_text().replace("openapi.json#", "#"))["$defs"]
Draft202012Validator.check_schema({"$defs": definitions})


def run(words, daemon=path):
    variables = {**os.environ, "LATCHKEY_SOCKET": daemon, "LATCHKEY_CONFIG": settings}
    result = subprocess.run([latchkey, *words, "--json"], env=variables, capture_output=True, text=True, timeout=150)
    record(words, result)
    return result


def record(words, result):
    """As CommandRecord.swift does: deploy/check-answers wants output of every command."""
    if place := os.environ.get("LATCHKEY_RECORD_ANSWERS"):
        line = {"words": words[:3], "status": result.returncode, "lines": result.stdout.splitlines(),
                "error": (result.stderr.splitlines() or [""])[-1]}
        with open(
            f"{place}/{os.getpid()}.printed", "a", opener=lambda path, flags: os.open(path, flags, 0o600)
        ) as file:
            file.write(json.dumps(line) + "\n")


def judge(words, text, name):
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return faults.append(f"{' '.join(words)}: {error} in: {text}")
    whole = {"$ref": f"#/$defs/{name.replace(' ', '%20')}", "$defs": definitions,
             "paths": document["paths"], "components": document["components"]}
    validator = Draft202012Validator(whole)
    faults.extend(
        f"{' '.join(words)}: {fault.json_path}: {fault.message}"[:400] for fault in validator.iter_errors(value)
    )


def command(name, *words, status=0, daemon=path):
    words = [*name.split(), *words]
    result = run(words, daemon)
    if result.returncode != status:
        return faults.append(f"{' '.join(words)} ended with {result.returncode}: {result.stderr}")
    judge(words, result.stdout, name)


for name in [
    "version",
    "status",
    "logs",
    "metrics",
    "doctor",
    "accounts list",
    "accounts current",
    "gateway list",
    "gateway show",
    "hosts list",
    "grants list",
    "grants log",
    "keys list",
    "crypto keys list",
    "credentials list",
    "brokers list",
    "inbox list",
    "actions list",
    "dead-letters list",
    "prompts list",
    "consent list",
    "vault slots",
    "vault verify",
    "token",
    "config show",
    "config check",
    "board list",
    "board check",
    "mpin backend list",
    "proximity status",
    "proximity audit",
    "renew",
    "gateway stop",
    "gateway start",
]:
    command(name)
command("status", "--account", "gateway")
command("vault accept-rollback", "--yes")
command("accounts show", "gateway")
command("config get", "broker.port")
command("config set", "broker.port", "1883")
command("config unset", "broker.port")
command("config add", "inbox", "name=late", "filter=late")
command("doctor", daemon=f"{folder}/nobody.sock", status=69)
command("explain", "agent.not-enrolled")
command("wait", "--for", "registered")
command("support-bundle", "--out", f"{folder}/bundle.tar.gz")
command("accounts use", "gateway")
command("gateway use", json.loads(run(["status"]).stdout)["gateway"]["url"])
command("publish", "door", "open")
command("board watch", "--count", "1")
command("board report", "well.level", "2.3", "--unit", "m")

for words, status in [
    (["status", "--bogus"], 64), (["config", "get", "nothing"], 65), (["config", "check", "/nope"], 78),
    (["wait", "--for", "user-logged-in", "--timeout", "0"], 75), (["status", "--account", "nobody"], 1),
]:
    result = run(words)
    if result.returncode != status or result.stdout:
        faults.append(f"{' '.join(words)} ended with {result.returncode}, not {status}: {result.stdout}{result.stderr}")
    judge(words, result.stderr, "Error")
    kind = json.loads(result.stderr)["error"]["kind"]
    if definitions["Error"]["x-exit-statuses"][kind] != status:
        faults.append(f"{' '.join(words)}: the schema has another exit status for {kind}")

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(1 if faults else 0)
