#!/usr/bin/env python3
"""Counts what arrives at real brokers of what the agent has accepted. Called by deploy/guarantee."""

import argparse
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "Benchmarks"))

# pylint: disable=wrong-import-position
import conditions
import ground
import report
from brokers import BROKERS
from campaign import Stage
from figures import Table, machine, package, version
from ground import REPOSITORY, BenchError, Ground, say

COLUMNS = ["sent", "accepted", "arrived", "distinct", "repeated", "reordered", "lost"]
DEFAULT = "default"
#: What is counted unless others are named: messages that the broker has in time are never written, or each is at once.
BOTH = (DEFAULT, "outbox.spill_milliseconds=0")
QUICK = [("calm", 2), ("cuts", 1), ("cuts", 2), ("agent killed", 1)]


class Field(Ground):
    """The folder and the gateway; the brokers come and go."""

    def start_broker(self):
        self.certify_broker()
        self.broker_port = None


def promised(row):
    """docs/messages.md: with QoS 1 or 2 each message arrives at least once."""
    return row["qos"] > 0


def failed(row):
    return promised(row) and (row["lost"] or row["trouble"])


def campaigns(options):
    if options.quick:
        return QUICK
    return [(condition, qos) for qos in options.qos for condition in options.conditions]


def obstacle(condition):
    """Why it cannot be had here."""
    if condition == "power cut" and (os.geteuid() or not os.access("/dev/fuse", os.R_OK | os.W_OK)):
        return "a power cut needs root, and /dev/fuse"
    return None


def agent_setting(text):
    """Settings as TOML's dotted keys: what rows are named by, and the tables."""
    try:
        tables = {} if text == DEFAULT else tomllib.loads(text.replace(";", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not TOML: {error}") from error
    if not all(isinstance(table, dict) for table in tables.values()):
        raise argparse.ArgumentTypeError(f"{text!r} is not TABLE.KEY=VALUE")
    return text, tables


def run(field, name, options, keep):
    broker = BROKERS[name](field)
    broker.start()
    try:
        for setting, tables_of in options.settings:
            stage = Stage(field, broker, tables_of, not options.account)
            try:
                run_campaigns(stage, setting, options, keep)
            finally:
                stage.close()
    finally:
        broker.stop()
    return broker.lines


def run_campaigns(stage, setting, options, keep):
    place = stage.broker.name + (f", {setting}" if setting != DEFAULT else "")
    for condition, qos in campaigns(options):
        if words := obstacle(condition):
            say(f"{place}, QoS {qos}, {condition}: left out: {words}")
            continue
        for row in stage.run(condition, qos, options.rounds):
            row["agent"] = setting
            keep(row)
            mark = " FAILED" if failed(row) else ""
            figures = ", ".join(f"{column} {shown(row[column])}" for column in COLUMNS)
            say(f"{place}, QoS {qos}, {condition}, {row['messages']}: {figures}; {row['seconds']} s{mark}"
                + (f": {row['trouble']}" if row["trouble"] else ""))


def shown(value):
    return "–" if value is None else value


def tables(rows, lines):
    found = []
    # A column that says only one thing is left out.
    named = any(row["agent"] != DEFAULT for row in rows)
    for name in dict.fromkeys(row["broker"] for row in rows):
        own = [row for row in rows if row["broker"] == name]
        campaigns_of = [row for row in own if row["messages"] == "numbered"]
        notes = [f"{row['agent'] + ', ' if named else ''}{row['condition']}, QoS {row['qos']}: {row['trouble']}."
                 for row in campaigns_of if row["trouble"]]
        if dropped := sum(row["dropped by the broker"] for row in campaigns_of):
            notes.append(f"The broker itself dropped messages of a client {dropped} times.")
        settings = "; ".join(f"`{line}`" for line in lines[name])
        notes.append(f"Its settings, all else is its default: {settings}.")
        found.append(Table(
            name, [*(["agent"] if named else []), "QoS", "condition", "messages", *COLUMNS],
            [[*([row["agent"]] if named else []), row["qos"], row["condition"], row["messages"],
              *(f"**{row[column]}**" if column == "lost" and failed(row) else shown(row[column]) for column in COLUMNS)]
             for row in own], notes))
    return found


def circumstances(field, names):
    git = subprocess.run(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"], check=False,
                         capture_output=True, text=True)
    packages = [*(BROKERS[name].package for name in names), "libmosquitto1"]
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(field.folder),
        "versions": {"latchkey": f"{version([field.latchkey, '--version'])} ({git.stdout.strip() or 'unknown'})",
                     **{name: package(name) for name in packages}},
    }


def arguments():
    parser = argparse.ArgumentParser(
        prog="deploy/guarantee", description="Counts what arrives at real brokers of what the agent has accepted, and "
        "writes the table of docs/GUARANTEES.md. Ends with 1 when something was lost that is promised (QoS 1 and 2).",
        epilog="Conditions: " + "; ".join(f"{name}: {one.__doc__}" for name, one in conditions.ALL.items()))
    add = parser.add_argument
    add("--quick", action="store_true", help="a few campaigns at Mosquitto, in about three minutes; writes no table")
    add("--broker", action="append", choices=[*BROKERS], dest="brokers", help="only this one; may be repeated (all)")
    add("--qos", action="append", type=int, choices=[0, 1, 2], help="only this one; may be repeated (all)")
    add("--condition", action="append", choices=[*conditions.ALL], dest="conditions", metavar="NAME",
        help="only this one; may be repeated (all)")
    add(
        "--agent-setting", action="append", type=agent_setting, dest="settings", metavar="TABLE.KEY=VALUE", help=
        "everything with this setting of the agent; several at once: A.B=1;C.D=2. May be repeated: rows for each, "
        f"of which `{DEFAULT}` is without any ({' and '.join(BOTH)})")
    add("--account", action="store_true", help=
        "with an account of the board's own at the broker (docs/brokers.md) and no gateway; has a part of its own in "
        "docs/GUARANTEES.md")
    add("--rounds", type=int, default=3,
        help="how often the broker is killed or restarted in a campaign; the rest happens once or twice more (3)")
    add("--json", type=Path, metavar="FILE", help="write everything that was counted")
    add("--report", type=Path, metavar="FILE",
        help="the page whose generated part is replaced (docs/GUARANTEES.md, when nothing is left out)")
    # From deploy/guarantee.
    add("--programs", help=argparse.SUPPRESS)
    add("--latchkey", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.settings = options.settings or [agent_setting(name) for name in (BOTH[:1] if options.account else BOTH)]
    is_whole = agent_setting(DEFAULT) in options.settings and not (
        options.quick or options.brokers or options.qos or options.conditions)
    if not options.report and is_whole:
        options.report = REPOSITORY / "docs" / "GUARANTEES.md"
    options.brokers = ["mosquitto"] if options.quick else options.brokers or [*BROKERS]
    options.qos, options.conditions = options.qos or [0, 1, 2], options.conditions or [*conditions.ALL]
    if options.quick:
        options.rounds = 1
    return options


def main():
    # Whoever ends this ends what it started.
    for number in signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    ground.PROGRAM = "deploy/guarantee"
    options = arguments()
    rows, lines, start = [], {}, time.monotonic()
    result = {"rows": rows}

    def keep(row):
        rows.append(row)
        if options.json:
            options.json.write_text(json.dumps(result, indent=1, default=str) + "\n")
    try:
        with Field(options.programs, options.latchkey) as field:
            result.update(circumstances(field, options.brokers))
            for name in options.brokers:
                lines[BROKERS[name].name] = run(field, name, options, keep)
            # Folders and ports differ from run to run.
            lines = {
                name: [
                    re.sub(r"(127\.0\.0\.1:|listener )\d+", r"\1PORT", line.replace(str(field.folder), "FOLDER"))
                    for line in own
                ] for name, own in lines.items()
            }
    except BenchError as error:
        print(f"deploy/guarantee: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    result["settings"], result["seconds"] = lines, round(time.monotonic() - start)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1, default=str) + "\n")
    found = tables(rows, lines)
    for table in found:
        print(table.text())
    if options.report:
        result["machine"]["minutes"] = round(result["seconds"] / 60)
        command = "deploy/guarantee" + (" --account" if options.account else "")
        report.write(options.report, {"all": found}, {"all": result}, command, "Guarantees")
        say(f"wrote {options.report}")
    bad = [row for row in rows if failed(row)]
    for row in bad:
        say(f"{row['broker']}, {row['agent']}, QoS {row['qos']}, {row['condition']}, {row['messages']}: "
            f"{row['lost']} of {row['accepted']} lost" + (f": {row['trouble']}" if row["trouble"] else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
