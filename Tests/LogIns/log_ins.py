"""Says what became of each log-in of Scripts/log-ins.sh, by its log and the trace that btmon kept.

  log_ins.py LOG TRACE

Of the adapter of the board that logs in, until somebody is asked: scans begun, reports that the radio gave of an
advertiser, devices that the kernel told its users of, and connections that did not come about. Exit status 1
when a log-in failed.
"""
import json
import statistics
import struct
import sys
from pathlib import Path

SCANNING_ADAPTER = 1
#: Microseconds from the year 0, where btsnoop counts from, to 1970.
EPOCH = 0x00DCDDB30F2F8000
#: What the monitor of the kernel passes on, and what of it counts (Vol 4 Part E 7.7.65, 7.8; BlueZ's mgmt-api.txt).
COMMAND, EVENT, MANAGEMENT_EVENT = 2, 3, 17
SET_SCAN_ENABLE, SET_EXTENDED_SCAN_ENABLE = 0x200C, 0x2042
LE_META_EVENT, ADVERTISING_REPORTS = 0x3E, (0x02, 0x0D)
DEVICE_FOUND = 0x0012


def kind(opcode, data):
    """scan, report or found; None for anything else."""
    if opcode == COMMAND and len(data) >= 4:
        command, _, enable = struct.unpack_from("<HBB", data)
        return "scan" if command in (SET_SCAN_ENABLE, SET_EXTENDED_SCAN_ENABLE) and enable else None
    if opcode == EVENT and len(data) >= 3:
        return "report" if data[0] == LE_META_EVENT and data[2] in ADVERTISING_REPORTS else None
    if opcode == MANAGEMENT_EVENT and len(data) >= 6:
        return "found" if struct.unpack_from("<H", data, 4)[0] == DEVICE_FOUND else None
    return None


def trace(content):
    """Milliseconds since 1970, and what it was."""
    at = 16
    while at + 24 <= len(content):
        _, length, flags, _, time = struct.unpack_from(">IIIIq", content, at)
        what = kind(flags & 0xFFFF, content[at + 24:at + 24 + length])
        if what and flags >> 16 == SCANNING_ADAPTER:
            yield (time - EPOCH) // 1000, what
        at += 24 + length


def log_ins(lines):
    """The name of each, and what was seen of it."""
    name, seen = None, {"unconnected": 0}
    for line in lines:
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("event") == "step":
            if name:
                yield name, seen
            name, seen = event["name"], {"unconnected": 0}
        elif event.get("event") == "observed":
            seen[event["name"]] = event["value"]
        elif event.get("event") == "proximity.device-failed" and event.get("board") == "b":
            seen["unconnected"] += 1
    if name:
        yield name, seen


def main(log, trace_file):
    facts = list(trace(Path(trace_file).read_bytes()))
    pauses, failed, unconnected = [], 0, 0
    total = dict.fromkeys(("scan", "report", "found"), 0)
    print("log-in  asked after s  scans  reports  found  unconnected  exit status")
    for name, seen in log_ins(Path(log).read_text().splitlines()):
        begin, end = seen["began"], seen.get("asked", seen["ended"])
        counts = {what: sum(begin <= time <= end and one == what for time, one in facts) for what in total}
        for what in total:
            total[what] += counts[what]
        failed += seen["login"] != 0
        unconnected += seen["unconnected"]
        if "asked" in seen:
            pauses.append((end - begin) / 1000)
        asked = f"{pauses[-1]:.1f}" if "asked" in seen else "never"
        print(f"{name:>6}  {asked:>13}  {counts['scan']:5}  {counts['report']:7}  {counts['found']:5}  "
              f"{seen['unconnected']:11}  {seen['login']:11}")
    if pauses:
        print(f"asked after {statistics.median(pauses):.1f} s (median), {max(pauses):.1f} s (longest)")
    print(f"{failed} failed; {total['scan']} scans, {total['report']} reports of the radio, {total['found']} devices "
          f"told of by the kernel, {unconnected} connections that did not come about")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
