"""What the tests are made of: lanes, each one process with a time limit, in phases that follow each other."""

import os
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SHELLS = ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash", "#!/bin/busybox sh")

# Suites that start programs have a process each, so that they do not wait for each other; the others share one.
OWN = ("AcceptanceTests", "CrashTests", "HostileTests", "GatewayTests", "MessagingTests", "VaultTests", "LocalAPITests",
       "HTTPClientTests", "FaultTests", "GatewayLabTests")
# The suites that boot a virtual board. All but the first are for `deploy/test --boards`, the longest first.
LOGIN = "HardwareTests.LoginTests"
# Tests of the program as it is shipped, which need the release build.
SHIPPED = r"^AcceptanceTests\.FootprintTests/|^CrashTests\.StateTests/notShipped|^HostileTests\.SecretTests/"


@dataclass(frozen=True)
class Lane:
    name: str
    minutes: float
    command: tuple = ()
    # Of a lane of tests: which, which not, and how many at a time.
    tests: str = ""
    skip: str = ""
    width: int = 4
    # Whether nothing that follows makes sense if it fails.
    essential: bool = False


@dataclass(frozen=True)
class Phase:
    lanes: tuple
    # How many lanes run at a time.
    workers: int


def any_of(names):
    return "|".join(names)


def scripts():
    """All shell scripts of the project."""
    found = []
    for top in (".ci", "deploy", "Tests"):
        for folder, _, files in os.walk(PROJECT / top):
            for name in files:
                path = Path(folder, name)
                with open(path, "rb") as file:
                    first = file.readline(80).decode(errors="replace").strip()
                if path.suffix == ".sh" or first.startswith(SHELLS) or first.startswith("# shellcheck shell="):
                    found.append(str(path.relative_to(PROJECT)))
    return sorted(found)


def command(name, minutes, *words, essential=False):
    return Lane(name, minutes, command=words, essential=essential)


def checks():
    """Of what is not compiled."""
    python = ("/usr/bin/python3", "-B", "-m", "unittest", "discover", "-q", "-s")
    return (
        command("benchmarks: what they make of what they read", 2, *python, "Tests/Benchmarks"),
        command("packages: what is said of them", 2, *python, "Tests/Packages"),
        command("this runner", 2, *python, "Tests/Runner"),
        command("shell scripts: shellcheck", 3, "shellcheck", "-x", *scripts()),
        command("text: Python, spelling, words", 5, "deploy/check-text"),
        command("Swift code: swift format lint", 5, "swift", "format", "lint", "--strict", "--parallel", "--recursive",
                "Package.swift", "Sources", "Tests"),
    )


BUILD = command("debug build", 30, "swift", "build", "--build-tests", essential=True)
RELEASE = command("release build", 30, "deploy/build", "--beside", essential=True)
BOARD = command("virtual board", 10, "Tests/VirtualBoard/virtual-board", "--prepare")


def loopback():
    """All that runs on loopback and in namespaces, and one boot of a virtual board. The longest first, so that none is
    left alone at the end; those that mostly wait begin beside those that work."""
    others = Lane("rooms", 15, tests=".", skip=rf"^({any_of(OWN)}|HardwareTests)\.", width=8)
    limits = {"AcceptanceTests": 20, "FaultTests": 12, "CrashTests": 12}
    own = [Lane(name, limits.get(name, 8), tests=rf"^{name}\.") for name in OWN]
    first = [lane for lane in own if lane.name in ("AcceptanceTests", "FaultTests")]
    return (
        first[0], Lane("virtual board: log-in", 10, tests=rf"^{LOGIN}/|^HardwareTests\.ScriptTests/"), first[1],
        others, *(lane for lane in own if lane not in first),
        command("documentation: the site", 6, "deploy/docs", "--programs", ".build/debug"),
        # With a broker as Debian ships it; deploy/guarantee makes the whole table.
        command("deploy/guarantee", 6, "deploy/guarantee", "--quick"),
    )


def shipped():
    """What is about the program as it is shipped, and that the benchmarks run with it; deploy/bench all makes
    figures."""
    bench = command("deploy/bench", 6, "deploy/bench", "publish", "--messages", "200", "--runs", "1", "--no-paho")
    return (Lane("shipped program", 10, tests=SHIPPED), bench)


def boards(names):
    """The other suites of virtual boards. Two at a time have a processor each."""
    return tuple(Lane(f"virtual board: {name}", 30, tests=rf"^HardwareTests\.{name}/") for name in names)


def answers(folder, *more):
    return command("answers against their schemas", 3, "deploy/check-answers", folder, *more)
