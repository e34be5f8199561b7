#!/usr/bin/env python3
"""The part of "deploy/bench proximity" that runs on the virtual board.

Two agents, for each transport: one shares its session, the other logs in by it again and
again. Then nobody logs in for some minutes, and what the agents use meanwhile is counted.
Prints progress and tables; everything measured goes to a file as JSON.
"""

import argparse
import json
import os
import platform
import queue
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from local_api import Connection
from proximity_agents import Agent, BoardError, await_true

DOOR, NEW = "door", "new"
ADMIN = "http://127.0.0.1:8480"

# Each part of a log-in ends with an event of one of the boards, and begins where the one before ended.
PARTS = [
    ("choose", "the nearest is waited for, 2 s by design", NEW, "proximity.scan-stopped"),
    ("connect", "link and MTU", NEW, "proximity.device-connected"),
    ("discover", "service and characteristic", NEW, "proximity.characteristic-found"),
    ("write", "subscription, and the request in pieces of 20 bytes", DOOR, "proximity.consent-asked"),
    ("consent", "an automatic program reads the question and grants", DOOR, "proximity.consent-answered"),
    ("authorize", "the sharing board tells the gateway", DOOR, "proximity.session-authorized"),
    ("notify", "it tells the other board", DOOR, "proximity.session-notified"),
    ("poll", "the other board asks the gateway, and spends the code", NEW, "gateway.user-did-authenticate"),
]
# What follows: whoever asked is told. The connection ends later.
LAST = (NEW, "proximity.login-succeeded")
FIRST = (NEW, "proximity.device-detected")


def say(text):
    print(text, flush=True)


# --- logging in -------------------------------------------------------------------

def drain(events):
    while True:
        try:
            events.get_nowait()
        except queue.Empty:
            return


def log_in(door, new, events):
    """One log-in; the seconds of its parts. The question is granted as soon as it is read."""
    drain(events)
    outcome = []

    def ask():
        connection = Connection(new.socket, 180)
        connection.request("POST", "/v1/login/nearby", json.dumps({"by": "bluetooth"}),
                           {"Content-Type": "application/json", "Accept": "application/x-ndjson"})
        outcome.append(connection.getresponse().read())
        connection.close()
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    at, end = {}, time.monotonic() + 170
    wanted = {FIRST, LAST, *((part[2], part[3]) for part in PARTS), (NEW, "proximity.scan-started")}
    while not {LAST, *((part[2], part[3]) for part in PARTS)} <= at.keys():
        try:
            when, board, event = events.get(timeout=max(end - time.monotonic(), 0))
        except queue.Empty:
            unseen = sorted(name for _, name in wanted - at.keys())
            raise BoardError(f"the log-in came to no end: no {', '.join(unseen)}") from None
        name = event.get("event")
        if (board, name) == (NEW, "proximity.login-failed"):
            raise BoardError(event.get("message", "the log-in failed"))
        if (board, name) in wanted:
            # A connection that failed is made again: what counts is the last of the later steps, the first of
            # sightings.
            if name in ("proximity.scan-started", FIRST[1]):
                at.setdefault((board, name), when)
            else:
                at[board, name] = when
        if (board, name) == (DOOR, "proximity.consent-asked"):
            door.call("POST", f"/v1/proximity/consents/{event['id']}", {"grant": True, "program": "bench"})
    asking.join(30)
    # The reader of events was there before the scan began.
    if not wanted <= at.keys():
        raise BoardError(f"these events are missing: {', '.join(sorted(name for _, name in wanted - at.keys()))}")
    result, before = {}, at[FIRST]
    for name, _, board, event in PARTS:
        result[name] = at[board, event] - before
        before = at[board, event]
    result["total"] = before - at[FIRST]
    result["hang-up"] = at[LAST] - before
    result["sighting"] = at[FIRST] - at[NEW, "proximity.scan-started"]
    return result


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


# --- what is used -----------------------------------------------------------------

def usage(process):
    """Memory in KiB, and of each thread its name and how often it gave the processor up by itself."""
    folder = Path("/proc", str(process))
    status = folder.joinpath("status").read_text()
    memory = {name: int(re.search(rf"^{field}:\s*(\d+)", status, re.M)[1])
              for name, field in (("rss", "VmRSS"), ("anonymous", "RssAnon"))}
    threads = {}
    for task in folder.joinpath("task").iterdir():
        try:
            text = task.joinpath("status").read_text()
        except OSError:
            continue
        threads[task.name] = (re.search(r"^Name:\s*(.*)", text, re.M)[1],
                              int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", text, re.M)[1]))
    return memory, threads


def watch(processes, minutes):
    """What each process uses in so many minutes, in which nothing is asked of it."""
    before = {name: usage(process) for name, process in processes.items()}
    begin = time.monotonic()
    time.sleep(minutes * 60)
    lasted = (time.monotonic() - begin) / 60
    result = {}
    for name, process in processes.items():
        memory, threads = usage(process)
        rates = {}
        for task, (title, count) in threads.items():
            rates[title] = rates.get(title, 0) + (count - before[name][1].get(task, (title, 0))[1]) / lasted
        result[name] = {
            "rss_kib": memory["rss"], "rss_kib_before": before[name][0]["rss"], "anonymous_kib": memory["anonymous"],
            "anonymous_kib_before": before[name][0]["anonymous"], "threads": len(threads),
            "wakeups_per_minute": round(sum(rates.values()), 1),
            "wakeups_per_minute_by_thread": {title: round(rate, 1) for title, rate in sorted(rates.items())}}
    return result


# --- one transport ----------------------------------------------------------------

def mint(options):
    text = subprocess.run([f"{options.programs}/latchkey-lab", "enroll", "--admin", ADMIN], check=True,
                          capture_output=True, text=True).stdout
    return text.strip()


def measure(transport, options):
    if transport == "bluez":
        subprocess.run(["board", "bluetoothd"], check=True)
    say(f"{transport}: two agents start, enroll, and alice logs in on the one that shares")
    agents = []
    try:
        door, new = (agents.append(Agent(name, options.latchkey, transport, adapter)) or agents[-1]
                     for name, adapter in ((DOOR, "hci0"), (NEW, "hci1")))
        enroll = [options.latchkey, "enroll", "-", "--socket"]
        subprocess.run([*enroll, door.socket], input=mint(options), text=True, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*enroll, new.socket, "--no-register"], input=mint(options), text=True, check=True,
                       stdout=subprocess.DEVNULL)
        door.call("POST", "/v1/login", {"userName": "alice", "password": "alice-password"})
        return measure_agents(transport, options, door, new)
    except (BoardError, OSError, subprocess.CalledProcessError):
        for agent in agents:
            sys.stderr.write(f"--- the last words of {agent.name}:\n{agent.last_words()}\n")
        raise
    finally:
        for agent in agents:
            agent.stop()


def measure_agents(transport, options, door, new):
    events = queue.Queue()
    ends = [agent.follow(events) for agent in (door, new)]
    door.call("POST", "/v1/proximity/sharing", {"seconds": 86_400})
    runs, failures = [], []
    # The first one also registers the board, and is not counted.
    first = None
    for number in range(options.runs + 1):
        for attempt in (1, 2, 3):
            try:
                result = log_in(door, new, events)
                break
            except BoardError as error:
                failures.append({"run": number, "reason": str(error)})
                say(f"{transport}: log-in {number} of {options.runs} failed: {error}")
                if attempt == 3:
                    raise
        if number == 0:
            first = result
        else:
            runs.append(result)
        say(f"{transport}: log-in {number} of {options.runs}: {result['total']:.2f} s"
            + (", with the registration, not counted" if number == 0 else "")
            + f" (seen {result['sighting']:.1f} s after the scan began)")
        new.call("POST", "/v1/logout", {"force": False})
    for end in ends:
        end()
    say(f"{transport}: for {options.minutes:g} min one agent advertises, and the other does nothing")
    # What the last log-out has set going.
    time.sleep(20)
    processes = {"advertising": door.process.pid, "idle": new.process.pid}
    if transport == "bluez":
        processes["bluetoothd"] = int(subprocess.run(["pidof", "bluetoothd"], check=True, capture_output=True,
                                                     text=True).stdout.split()[0])
    report = door.call("GET", "/v1/proximity")
    if not report["sharing"]:
        raise BoardError("the session is no longer shared")
    used = watch(processes, options.minutes)
    if not door.call("GET", "/v1/proximity")["sharing"]:
        raise BoardError("the session was no longer shared")
    summary = {}
    for name in [*(part[0] for part in PARTS), "total", "hang-up", "sighting"]:
        low, middle, high = quartiles([run[name] for run in runs])
        summary[name] = {"median": round(middle, 4), "lower_quartile": round(low, 4), "upper_quartile": round(high, 4)}
    return {
        "adapter": report["bluetooth"], "login_seconds": summary, "runs": rounded(runs),
        "first_with_registration": rounded([first])[0], "failures": failures, "minutes": options.minutes, "usage": used
    }


def rounded(runs):
    return [{name: round(value, 4) for name, value in run.items()} for run in runs]


# --- the report -------------------------------------------------------------------

def table(transport, result):
    lines = [f"{transport}: {len(result['runs'])} log-ins, {len(result['failures'])} failed attempts; seconds",
             f"  {'':10} {'median':>8} {'lower q.':>9} {'upper q.':>9}"]
    meaning = {part[0]: part[1] for part in PARTS}
    meaning["total"] = "from the first advertising packet until the user is logged in"
    meaning["hang-up"] = "after that: until the caller is told, before the link has ended (not in the total)"
    meaning["sighting"] = "before that: from the scan to the packet (not in the total)"
    for name, values in result["login_seconds"].items():
        lines.append(f"  {name:10} {values['median']:8.3f} {values['lower_quartile']:9.3f} "
                     f"{values['upper_quartile']:9.3f}  {meaning[name]}")
    lines.append(f"{transport}: {result['minutes']:g} min without a log-in")
    lines.append(f"  {'':12} {'RSS MiB':>8} {'anonymous':>10} {'threads':>8} {'wake-ups/min':>13} {'an hour':>8}")
    for name, used in result["usage"].items():
        rate = used["wakeups_per_minute"]
        lines.append(f"  {name:12} {used['rss_kib'] / 1024:8.1f} {used['anonymous_kib'] / 1024:10.1f} "
                     f"{used['threads']:8} {rate:13.1f} {rate * 60:8.0f}")
    for name in "advertising", "idle":
        by_thread = result["usage"][name]["wakeups_per_minute_by_thread"]
        lines.append(f"  {name}, by thread: "
                     + ", ".join(f"{title} {rate:g}" for title, rate in by_thread.items() if rate))
    return "\n".join(lines)


def version(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0].strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--latchkey", required=True)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    log = Path("/run/lab.log")
    # What is authorized in a slow run must not expire.
    with log.open("wb") as output:
        lab = subprocess.Popen([f"{options.programs}/latchkey-lab", "run", "--authorization-life", "900"],
                               stdout=output, stderr=subprocess.STDOUT)
    report = {
        "latchkey": version(options.latchkey, "version").removeprefix("latchkey").strip(), "kernel": platform.release(),
        "bluez": version("/usr/libexec/bluetooth/bluetoothd", "--version"), "machine": os.environ.get(
            "BENCH_MACHINE", ""), "qemu": os.environ.get(
                "BENCH_QEMU", ""), "build": os.environ.get("BENCH_BUILD", ""), "date": time.strftime(
                    "%Y-%m-%d", time.gmtime()), "runs": options.runs, "minutes": options.minutes, "transports": {}
    }
    try:
        await_true(90, "the lab gateway", lambda: b"admin page" in log.read_bytes())
        for transport in "kernel", "bluez":
            report["transports"][transport] = measure(transport, options)
            # What there is, in case the rest fails.
            Path(options.out).write_text(json.dumps(report, indent=1) + "\n")
    except (BoardError, OSError, subprocess.CalledProcessError) as error:
        print(f"deploy/bench: {error}", file=sys.stderr)
        return 1
    finally:
        lab.terminate()
        for transport, result in report["transports"].items():
            say("\n" + table(transport, result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
