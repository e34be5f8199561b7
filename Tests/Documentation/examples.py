"""What docs/examples names, against what the programs that read it know.

Options of Telegraf are those of plugins/inputs/prometheus/sample.conf in its source, properties and outputs of nodes
those that the core nodes of Node-RED (packages/node_modules/@node-red/nodes/core) read.
"""
import json
import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs/examples"

TELEGRAF = {
    "urls",
    "metric_version",
    "url_tag",
    "ignore_timestamp",
    "bearer_token",
    "bearer_token_string",
    "username",
    "password",
    "response_timeout",
    "timeout",
    "tls_ca",
    "tls_cert",
    "tls_key",
    "insecure_skip_verify",
    "http_headers",
}
NODES = {
    "inject": (1, {"props", "repeat", "crontab", "once", "onceDelay", "topic", "payload", "payloadType"}),
    "http request": (
        1,
        {"method", "ret", "paytoqs", "url", "tls", "persist", "proxy", "authType", "senderr", "headers"},
    ),
    "exec": (3, {"command", "addpay", "append", "useSpawn", "timer", "winHide", "oldrc"}),
    "split": (1, {"splt", "spltType", "arraySplt", "arraySpltType", "stream", "addname", "property"}),
    "json": (1, {"property", "action", "pretty"}),
    "debug": (0, {"active", "tosidebar", "console", "tostatus", "complete", "targetType", "statusVal", "statusType"}),
}
EVERY_NODE = {"id", "type", "z", "name", "x", "y", "wires"}


def telegraf(text):
    """The plugins of a configuration, those in comments too, and what is wrong with them."""
    commented = re.sub(r"(?m)^# ?(?=\[\[|  )", "", text)
    plugins = tomllib.loads(commented)["inputs"]["prometheus"]
    return plugins, [
        f"telegraf.conf: inputs.prometheus has no {key}" for plugin in plugins for key in plugin if key not in TELEGRAF
    ]


def flow(nodes):
    """What is wrong with a flow of Node-RED."""
    tabs = {node["id"] for node in nodes if node["type"] == "tab"}
    there = {node["id"]: node for node in nodes if node["type"] != "tab"}
    if len(tabs) + len(there) != len(nodes):
        yield "an id is used twice"
    wired = {target for node in there.values() for wires in node["wires"] for target in wires}
    for name, node in there.items():
        if node["type"] not in NODES:
            yield f"{name}: {node['type']} is not a core node"
            continue
        outputs, known = NODES[node["type"]]
        for key in sorted(set(node) - known - EVERY_NODE):
            yield f"{name}: {node['type']} has no {key}"
        if node["z"] not in tabs:
            yield f"{name} is on no tab"
        # A node without outputs has an empty list.
        if len(node["wires"]) != outputs:
            yield f"{name} has {len(node['wires'])} outputs, not {outputs}"
        if node["type"] != "inject" and name not in wired:
            yield f"nothing leads to {name}"
    for target in sorted(wired - set(there)):
        yield f"a wire leads to {target}, which is not there"


def queries(dashboard, board=".*"):
    """The queries of a dashboard's panels, with their variables as Grafana fills them in: (panel, query)."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$board", board)


def dashboard(found):
    """What is wrong with a dashboard of Grafana."""
    variables = {variable["name"] for variable in found["templating"]["list"]}
    ids = [panel["id"] for panel in found["panels"]]
    if len(set(ids)) != len(ids):
        yield "an id is used twice"
    taken = {}
    for panel in found["panels"]:
        title, place = panel["title"], panel["gridPos"]
        for used in re.findall(r"\$\{?(\w+)", json.dumps(panel)):
            if used not in variables:
                yield f"{title}: there is no variable {used}"
        if place["x"] + place["w"] > 24:
            yield f"{title} is wider than the page"
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if taken.setdefault((x, y), title) != title:
                    yield f"{title} is over {taken[x, y]}"


def read(name):
    """An example's text, or its value where it is JSON."""
    text = (FOLDER / name).read_text()
    return json.loads(text) if name.endswith(".json") else text
