"""Footprint: memory, threads, wake-ups and CPU of the idle agent beside mosquitto_sub, and of one that samples the
board every second beside collectd with its mqtt plugin.
"""

import re
import shutil
import subprocess
import time
from pathlib import Path

from figures import Table, cpu_seconds, memory, wakeups, woken
from ground import BenchError, await_true, say

COLLECTD = "/usr/sbin/collectd"
QUIET = '[[sensor]]\nname = "system.uptime"\nsource = "system"\nchannel = "uptime"\nperiod-s = 900\n'
# What both sample each second, and send each second.
SAMPLED = "".join(
    f'[[sensor]]\nname = "system.{channel}"\nsource = "system"\nchannel = "{channel}"\nperiod-s = '
    f'1\ngreatest-interval-s = 1\n{more}'
    for channel, more in (("load", ""), ("memory-available", ""), ("disk-free", 'path = "/"\n'), ("uptime", "")))
BUDGET = {"size": 25 << 20, "rss": 31_000, "anonymous": 5_000, "threads": 8, "wakeups": 30}


def add_options(parser):
    parser.add_argument("--minutes", type=float, default=1, help="how long wake-ups and CPU are counted (1)")


def collectd(ground, peer):
    configuration = ground.folder / "collectd.conf"
    configuration.write_text(
        f'Hostname "bench"\nFQDNLookup false\nInterval 1\nBaseDir "{ground.folder}"\nTypesDB '
        f'"/usr/share/collectd/types.db"\n'
        "LoadPlugin load\nLoadPlugin memory\nLoadPlugin df\nLoadPlugin uptime\nLoadPlugin mqtt\n"
        '<Plugin df>\nMountPoint "/"\nIgnoreSelected false\n</Plugin>\n'
        f'<Plugin mqtt>\n<Publish "bench">\nHost "localhost"\nPort {peer.port}\nClientId "{peer.client_id}"\nUser '
        f'"{peer.user}"\n'
        f'Password "{peer.password}"\nQoS 1\nPrefix "collectd"\nCACert "{peer.folder}/ca.pem"\n'
        f'CertificateFile "{peer.folder}/cert.pem"\nCertificateKeyFile "{peer.folder}/key.pem"\nTLSProtocol "tlsv1.2"\n'
        "</Publish>\n</Plugin>\n")
    return subprocess.Popen([COLLECTD, "-f", "-C", configuration, "-P", ground.folder / "collectd.pid"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=(ground.folder / "collectd.log").open("wb"))


def files(process):
    """Bytes of the program, and of the shared libraries that it has mapped."""
    program = Path(f"/proc/{process}/exe").resolve()
    mapped = {
        line.split(maxsplit=5)[5] for line in Path(f"/proc/{process}/maps").read_text().splitlines() if ".so" in line
    }
    libraries = {Path(path).resolve() for path in mapped if re.search(r"\.so(\.|$)", path)}
    return program, sum(path.stat().st_size for path in libraries if path.exists())


def stripped(program, folder):
    copy = folder / "stripped"
    shutil.copy(program, copy)
    subprocess.run(["strip", copy], check=True, capture_output=True)
    return copy.stat().st_size


def measure(ground, options):
    if not Path(COLLECTD).exists():
        raise BenchError("collectd is missing; install the Debian package collectd-core (deploy/prepare bench does)")
    idle = ground.board("idle", QUIET).start().enroll()
    busy = ground.board("sampling", SAMPLED, telemetry={"enabled": True}).start().enroll()
    listener, sampler = ground.peer("listener"), ground.peer("sampler")
    own = [
        subprocess.Popen(["mosquitto_sub", *listener.options, "-t", "quiet", "-q", "1"], stdout=subprocess.DEVNULL),
        collectd(ground, sampler),
    ]
    ground.processes += own
    await_true(20, "collectd's connection", lambda: sampler.client_id in (ground.folder / "broker.log").read_text())
    # The agent lets go of what only its start needed a few seconds after it has connected.
    time.sleep(10)
    processes = {
        "latchkey, idle": idle.process.pid, "mosquitto_sub, idle": own[0].pid,
        "latchkey, 4 values a second": busy.process.pid, "collectd, 4 plugins a second": own[1].pid,
    }
    start = {name: (wakeups(pid), cpu_seconds(pid)) for name, pid in processes.items()}
    say(f"counting for {options.minutes:g} min")
    time.sleep(options.minutes * 60)
    found = {}
    for name, pid in processes.items():
        used = cpu_seconds(pid) - start[name][1]
        program, libraries = files(pid)
        found[name] = {**memory(pid), "size": stripped(program, ground.folder), "libraries": libraries,
                       "wakeups": woken(start[name][0], wakeups(pid)) / options.minutes, "cpu": used / options.minutes}
    return {"minutes": options.minutes, "processes": found}


def tables(result):
    rows = [
        ["budget of the design", f"{BUDGET['size'] / 1e6:.2f}", "", "26.0", "5.0", "", "8", f"{BUDGET['wakeups']}", ""]
    ]
    for name, at in result["processes"].items():
        rows.append([
            name, f"{at['size'] / 1e6:.2f}", f"{at['libraries'] / 1e6:.1f}", f"{at['rss'] / 1e3:.1f}",
            f"{at['anonymous'] / 1e3:.1f}", f"{at['pss'] / 1e3:.1f}", at["threads"], f"{at['wakeups']:.0f}",
            f"{at['cpu'] * 1e3:.1f}"
        ])
    agent = result["processes"]["latchkey, idle"]
    missed = [name for name, limit in BUDGET.items() if agent[name] > limit]
    return [
        Table("Footprint, connected to the broker", [
            "", "program, MB", "+ its libraries, MB", "RSS, MB", "anonymous, MB", "PSS, MB", "threads",
            "wake-ups a minute", "CPU a minute, ms"
        ], rows, [
            "The idle agent keeps its budgets." if not missed else f"The idle agent misses: {', '.join(missed)}.",
            "Program: stripped. Its libraries: the files of all shared libraries that it has mapped, most of which "
            "other programs map too; the agent has Swift's runtime inside. MB are 10⁶ bytes. The agent sends one "
            "message for all values of a second, collectd one for each.",
            f"Counted for {result['minutes']:g} min, all four at the same time. A wake-up is a voluntary context "
            "switch of any thread."
        ])
    ]
