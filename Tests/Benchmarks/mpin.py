"""M-Pin: the arithmetic of a log-in (pass 1 and pass 2, with a time permit), beside as many multiplications on P-256
and secp256k1 by OpenSSL, and beside the Apache Milagro library if there is a build of it, in turn."""

import json
import os
import subprocess
from pathlib import Path

from figures import Table, median, spread
from ground import REPOSITORY, BenchError, say

LIBRARIES = [f"amcl_{part}_BN254CX" for part in ("mpin", "pairing", "curve")] + ["amcl_core"]


def add_options(parser):
    parser.add_argument("--runs", type=int, default=25, help="starts of each program, in turn (25)")
    parser.add_argument("--rounds", type=int, default=40, help="log-ins in each (40)")
    parser.add_argument(
        "--milagro", type=Path, metavar="FOLDER",
        help="where the Apache Milagro library (incubator-milagro-crypto-c) is installed, built for BN254CX: its prefix"
    )


def output(words, **more):
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True, timeout=600,
                          **more)
    if done.returncode:
        raise BenchError(f"{words[0]} failed: {done.stderr.strip()[-600:]}")
    return done.stdout


def build():
    """As the agent is built for release."""
    words = ["swift", "build", "--package-path", REPOSITORY, "-c", "release", "--product", "mpin-benchmark"]
    say("building mpin-benchmark")
    output(words)
    return Path(output([*words[:-2], "--show-bin-path"]).strip(), "mpin-benchmark")


def build_milagro(folder, milagro):
    program = folder / "milagro"
    output([
        "cc", "-O2", "-I", milagro / "include/amcl", "-o", program,
        Path(__file__).with_name("milagro.c"), "-L", milagro / "lib", *[f"-l{name}" for name in LIBRARIES]
    ])
    return program


def measure(ground, options):
    program = build()
    milagro = build_milagro(ground.folder, options.milagro.resolve()) if options.milagro else None
    found, ratios = {}, {}
    for number in range(options.runs):
        times = json.loads(output([program, options.rounds]))
        if milagro:
            environment = {**os.environ, "LD_LIBRARY_PATH": str(options.milagro.resolve() / "lib")}
            times["milagro"] = json.loads(output([milagro, options.rounds], env=environment))
        ours = median(times["mpin"])
        for name, values in times.items():
            found.setdefault(name, []).extend(values)
            ratios.setdefault(name, []).append(ours / median(values))
        say(f"run {number + 1}/{options.runs}: a log-in takes {ours:.0f} µs")
    return {"runs": options.runs, "rounds": options.rounds, "times": found, "ratios": ratios}


def tables(result):
    times, ratios = result["times"], result["ratios"]
    subjects = [
        ("latchkey, BN254CX by EC_GROUP", "mpin"), ("the Apache Milagro library, BN254CX", "milagro"),
        ("OpenSSL, 4 multiplications on secp256k1", "secp256k1"), ("OpenSSL, 4 multiplications on P-256", "p256")]
    rows = [[text, spread(times[name], 0), f"{median(ratios[name]):.2f}"] for text, name in subjects if name in times]
    notes = [
        f"Microseconds of processor time, median (least to greatest) of {result['runs'] * result['rounds']} of each, "
        "in turn. The last column is the median over the runs of latchkey's median divided by the line's: other "
        "work of the machine meets both alike. A log-in multiplies four times, maps two hashes and adds three "
        "times. OpenSSL has code of its own for P-256; for secp256k1 it has the general code that also computes "
        "BN254CX.",
        f"The first use of the curve in a process, with the self-test: {spread(times['first'], 0)} µs.",
    ]
    return [Table("The arithmetic of an M-Pin log-in", ["", "µs", "latchkey ÷"], rows, notes)]
