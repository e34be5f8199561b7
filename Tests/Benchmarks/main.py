#!/usr/bin/env python3
"""Measures the agent beside its peers. Called by deploy/bench, which builds the programs."""

import argparse
import datetime
import importlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import report
from figures import machine, package, version
from ground import REPOSITORY, BenchError, Ground, say

SUBJECTS = ["footprint", "start", "publish", "latency", "backlog", "receive"]
# Not among `all`: the first needs root, the second measures no program.
ALONE = ["flash", "mpin"]


def common(parser):
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    # From deploy/bench.
    parser.add_argument("--programs", help=argparse.SUPPRESS)
    parser.add_argument("--latchkey", help=argparse.SUPPRESS)


def arguments():
    parser = argparse.ArgumentParser(prog="deploy/bench", description=__doc__.splitlines()[0])
    subjects = parser.add_subparsers(dest="subject", required=True)
    for name in SUBJECTS + ALONE:
        module = importlib.import_module(name)
        one = subjects.add_parser(name, help=" ".join(module.__doc__.split(":")[0].split()), description=" ".join(
            module.__doc__.split()))
        module.add_options(one)
        common(one)
    every = subjects.add_parser("all", help=f"{', '.join(SUBJECTS)}, written into docs/BENCHMARKS.md")
    common(every)
    every.add_argument("--readings", type=int, help="length of the backlog")
    every.add_argument("--report", type=Path, default=REPOSITORY / "docs" / "BENCHMARKS.md", metavar="FILE",
                       help="the page whose generated part is replaced (docs/BENCHMARKS.md)")
    return parser, parser.parse_args()


def circumstances(ground):
    git = subprocess.run(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"], check=False,
                         capture_output=True, text=True)
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(ground.folder),
        "versions": {
            "latchkey": f"{version([ground.latchkey, '--version'])} ({git.stdout.strip() or 'unknown'})",
            **{
                name: package(name)
                for name in ("mosquitto", "mosquitto-clients", "libmosquitto1", "libssl3", "collectd-core")
            },
        },
    }


def measure(name, options, programs, latchkey):
    module = importlib.import_module(name)
    with Ground(programs, latchkey) as ground:
        say(f"{name} begins")
        around = circumstances(ground)
        result = {**around, **module.measure(ground, options)}
    for table in module.tables(result):
        print(table.text())
    return result


def main():
    # Whoever ends this ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser, options = arguments()
    names = SUBJECTS if options.subject == "all" else [options.subject]
    results = {}
    try:
        for name in names:
            chosen = options
            if options.subject == "all":
                words = [name]
                if name == "backlog" and options.readings:
                    words += ["--readings", str(options.readings)]
                chosen = parser.parse_args(words)
            results[name] = measure(name, chosen, options.programs, options.latchkey)
            if options.json:
                # After each: what was measured is not lost with what fails later.
                options.json.write_text(json.dumps(results, indent=1) + "\n")
    except BenchError as error:
        print(f"deploy/bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    # A subject that is not among all may have a part of its own.
    if getattr(options, "report", None):
        report.write(options.report,
                     {name: importlib.import_module(name).tables(result) for name, result in results.items()}, results,
                     f"deploy/bench {options.subject}", dated=options.subject == "all")
        say(f"wrote {options.report}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
