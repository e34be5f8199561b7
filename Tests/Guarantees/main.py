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
QUICK = [("calm", 2), ("cuts", 1), ("cuts", 2), ("agent killed", 1)]


class Field(Ground):
    """The folder and the gateway; the brokers come and go."""

    def start_broker(self):
        self.certify_broker()
        self.broker_port = None


def promised(row):
    """README: with QoS 1 or 2 each message arrives at least once."""
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


def run(field, name, options, keep):
    broker = BROKERS[name](field)
    broker.start()
    try:
        for spill in options.spill:
            run_all(Stage(field, broker, spill), options, keep)
    finally:
        broker.stop()
    return broker.lines


def run_all(stage, options, keep):
    """All campaigns with one setting of how long a message may wait for the broker before it is written."""
    try:
        for condition, qos in campaigns(options):
            name = f"{stage.broker.name}, spill {stage.spill} ms, QoS {qos}, {condition}"
            if words := obstacle(condition):
                say(f"{name}: left out: {words}")
                continue
            for row in stage.run(condition, qos, options.rounds):
                keep(row)
                mark = " FAILED" if failed(row) else ""
                figures = ", ".join(f"{column} {shown(row[column])}" for column in COLUMNS)
                say(f"{name}, {row['messages']}: {figures}; {row['seconds']} s{mark}"
                    + (f": {row['trouble']}" if row["trouble"] else ""))
    finally:
        stage.close()


def shown(value):
    return "–" if value is None else value


def tables(rows, lines):
    found = []
    for name in dict.fromkeys(row["broker"] for row in rows):
        own = [row for row in rows if row["broker"] == name]
        campaigns_of = [row for row in own if row["messages"] == "numbered"]
        notes = [f"{row['condition']}, QoS {row['qos']}: {row['trouble']}." for row in campaigns_of if row["trouble"]]
        if dropped := sum(row["dropped by the broker"] for row in campaigns_of):
            notes.append(f"The broker itself dropped messages of a client {dropped} times.")
        settings = "; ".join(f"`{line}`" for line in lines[name])
        notes.append(f"Its settings, all else is its default: {settings}.")
        found.append(Table(
            name, ["spill, ms", "QoS", "condition", "messages", *COLUMNS],
            [[row["spill"], row["qos"], row["condition"], row["messages"],
              *(f"**{row[column]}**" if column == "lost" and failed(row) else shown(row[column]) for column in COLUMNS)]
             for row in own], notes))
    return found


def circumstances(field, names):
    git = subprocess.run(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"], check=False,
                         capture_output=True, text=True)
    packages = [*(BROKERS[name].package for name in names), "libmosquitto1"]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
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
    add("--spill", action="append", type=int, metavar="MILLISECONDS",
        help="how long a message waits for the broker before it is written; may be repeated "
             "(250; with --quick also 0, which writes each at once)")
    add("--rounds", type=int, default=3,
        help="how often the broker is killed or restarted in a campaign; the rest happens once or twice more (3)")
    add("--json", type=Path, metavar="FILE", help="write everything that was counted")
    add("--report", type=Path, metavar="FILE",
        help="the page whose generated part is replaced (docs/GUARANTEES.md, when nothing is left out)")
    # From deploy/guarantee.
    add("--programs", help=argparse.SUPPRESS)
    add("--latchkey", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.report and not (
            options.quick or options.brokers or options.qos or options.conditions or options.spill):
        options.report = REPOSITORY / "docs" / "GUARANTEES.md"
    options.brokers = ["mosquitto"] if options.quick else options.brokers or [*BROKERS]
    options.spill = options.spill or ([250, 0] if options.quick else [250])
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
            lines = {name: [re.sub(r"(127\.0\.0\.1:|listener )\d+", r"\1PORT", line.replace(str(field.folder), "FOLDER"))
                            for line in own] for name, own in lines.items()}
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
        report.write(options.report, {"all": found}, {"all": result}, "deploy/guarantee", "Guarantees")
        say(f"wrote {options.report}")
    bad = [row for row in rows if failed(row)]
    for row in bad:
        say(f"{row['broker']}, QoS {row['qos']}, {row['condition']}, {row['messages']}: "
            f"{row['lost']} of {row['accepted']} lost" + (f": {row['trouble']}" if row["trouble"] else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
