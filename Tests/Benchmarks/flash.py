"""Flash: bytes, syncs and pages that a message costs the disk of a board, while the broker is there, while it is away
and afterwards, beside other programs that keep messages; and which of them a kill and a power cut lose. Needs root, and
a kernel with tracefs and loop devices.
"""

import concurrent.futures
import os
import sys
import time
from pathlib import Path

import flash_trace
from figures import Table
from flash_arrivals import Arrivals
from flash_disk import leave_mounts, mount_tracing, run
from flash_programs import WIDTH, all_programs, knows
from footprint import COLLECTD
from ground import BenchError, await_true, free_port, say
from onlooker import Onlooker

sys.path.append(str(Path(__file__).resolve().parents[1] / "Guarantees"))
from proxy import Proxy  # pylint: disable=wrong-import-position,wrong-import-order

QUICK = {"warm-up": 200, "seconds": 3.0, "burst": 100, "cuts": 1, "settle": 1.0}
# Messages of a campaign against a program: one after the other, then as many as at once.
SLOW, FAST, EVERY = 5, 50, 0.3
RETURN = 180    # seconds for what waited to arrive, once the broker is back; the agent may wait 60 s before it tries
# Settings of the outbox that older programs do not have.
NEW = ("spill_milliseconds", "flush_seconds")
CUTS = [("connected", "killed"), ("connected", "power cut"), ("away", "killed"), ("away", "power cut")]


def add_options(parser):
    parser.add_argument("--size", type=int, default=190, metavar="BYTES", help="payload of a message, 64 to 4096 (190)")
    parser.add_argument(
        "--warm-up", type=int, default=2000, metavar="MESSAGES",
        help="messages that Latchkey keeps and sends before anything counts: a log that still grows costs more "
             "than one that is reused (2000)")
    parser.add_argument("--rate", type=float, default=2, help="messages a second that come one by one (2)")
    parser.add_argument("--seconds", type=float, default=30, help="how long they come, connected and away each (30)")
    parser.add_argument("--burst", type=int, default=1000,
                        help="messages that come at once, connected and away each (1000)")
    parser.add_argument("--cuts", type=int, default=3,
                        help="kills, and power cuts, of each program, connected and away each (3)")
    parser.add_argument("--settle", type=float, default=8,
                        help="seconds after each situation in which what a program writes later belongs to it (8)")
    parser.add_argument("--quick", action="store_true", help="a smaller run within a minute: " + ", ".join(
        f"--{name} {value:g}" for name, value in QUICK.items()) + ", and those only away")
    parser.add_argument("--report", type=Path, metavar="FILE",
                        help="the page whose part made by this is replaced, or added")


class Run:
    """All programs at the same time, each on its own disk, before one broker."""

    def __init__(self, ground, options, stack):
        self.options, self.number, self.situations, self.trace = options, 0, {}, None
        leave_mounts()
        self.tracing = mount_tracing(ground.folder / "tracing")
        stack.append(lambda: run("umount", self.tracing))
        self.proxy = Proxy(free_port(), ground.broker_port)
        stack.append(self.proxy.close)
        self.arrivals = Arrivals(Onlooker(ground.plain_port, "#"))
        stack.append(self.arrivals.onlooker.close)
        self.known = [setting for setting in NEW if knows(ground, setting)]
        self.programs = all_programs(ground, options.size, self.proxy.port, self.known)
        stack += [program.close for program in self.programs]
        self.given = [program for program in self.programs if program.is_given]
        self.sampling = [program for program in self.programs if not program.is_given]
        self.pool = concurrent.futures.ThreadPoolExecutor(len(self.programs))
        stack.append(self.pool.shutdown)

    def each(self, act):
        """For all programs that are given messages, at the same time."""
        return list(self.pool.map(act, self.given))

    def start(self):
        self.each(lambda program: program.start())
        self.await_back()

    def sampled(self):
        return {program.name: program.accepted() for program in self.sampling}

    def numbers(self, count):
        self.number += count
        return range(self.number - count, self.number)

    def await_back(self):
        """Until a message of each arrives. It comes after what has waited, so that this has arrived, too."""
        def come_back(program):
            def arrives():
                program.publish(markers)
                time.sleep(0.3)
                return not self.arrivals.of(program).isdisjoint(markers)
            await_true(RETURN, f"a message of {program.title}", arrives, 0.2)
        markers = self.numbers(1)
        self.each(come_back)
        self.arrivals.await_quiet(self.given, 1)

    # -- what a message costs

    def steadily(self, count, every):
        numbers, start = self.numbers(count), time.monotonic()
        for turn, number in enumerate(numbers):
            time.sleep(max(0, start + turn * every - time.monotonic()))
            self.each(lambda program, number=number: program.publish([number]))
        return numbers

    def at_rate(self):
        return self.steadily(max(1, round(self.options.rate * self.options.seconds)), 1 / self.options.rate)

    def at_once(self):
        numbers = self.numbers(self.options.burst)
        self.each(lambda program: program.publish(numbers))
        return numbers

    def situation(self, name, act):
        """`act` returns the messages that it is about."""
        start, sampled, numbers = time.monotonic(), self.sampled(), act()
        time.sleep(self.options.settle)
        sampled = {program: count - sampled[program] for program, count in self.sampled().items()}
        found = self.trace.take()
        for program in self.programs:
            program.disk.sync()
        for device, left in self.trace.take().items():
            found[device].add_left(left)
        self.situations[name] = {
            "messages": len(numbers), "seconds": time.monotonic() - start, "programs": {
                program.name: {
                    "messages": sampled.get(program.name, len(numbers)), **found[program.disk.device].figures()
                } for program in self.programs
            }
        }
        say(f"flash: {name}: {len(numbers)} messages, {time.monotonic() - start:.0f} s")
        return numbers

    def warm_up(self):
        """Away, because what the broker has soon enough may not be written at all."""
        numbers, warm = self.numbers(self.options.warm_up), [program for program in self.programs if program.reuses_log]
        self.proxy.gate(False, resetting=True)
        list(self.pool.map(lambda program: program.publish(numbers), warm))
        self.come_back_with(numbers, warm)
        self.reconnect()

    def reconnect(self):
        """collectd takes the better part of a minute to connect again."""
        for program in self.given:
            if not program.forwards_later:
                program.kill()
                program.start()
        self.await_back()

    def costs(self):
        self.warm_up()
        self.arrivals.await_quiet(self.programs, self.options.settle)
        for program in self.programs:
            program.disk.sync()
        # Not by the number of this process, which another has in another namespace.
        self.trace = flash_trace.Trace(self.tracing, self.tracing.parent.name,
                                       [program.disk.device for program in self.programs])
        try:
            waiting = []
            rate = f"{self.options.rate:g} a second"
            self.situation(f"connected, {rate}", self.at_rate)
            self.situation("connected, at once", self.at_once)
            self.proxy.gate(False, resetting=True)
            waiting += self.situation(f"away, {rate}", self.at_rate)
            waiting += self.situation("away, at once", self.at_once)
            self.situation("backlog: sent afterwards", lambda: self.come_back_with(waiting, self.given))
        finally:
            self.trace.close()
        self.reconnect()

    def come_back_with(self, waiting, programs):
        self.proxy.gate(True)
        for program in programs:
            if program.forwards_later:
                await_true(RETURN, f"what waited in {program.title}",
                           lambda p=program: self.arrivals.of(p).issuperset(waiting), 0.2)
        return waiting

    # -- what is lost

    def cut(self, presence, end):
        """Ends every program with the answer to its last message. Returns how many of the answered messages never
        arrived."""
        self.proxy.gate(presence == "connected", resetting=presence != "connected")
        numbers = [*self.steadily(SLOW, EVERY), *self.numbers(FAST)]

        def strike(program):
            program.publish(numbers[SLOW:])
            program.kill()
            if end == "power cut":
                program.disk.cut()
                program.disk.restart()
        self.each(strike)
        self.proxy.gate(True)
        self.start()
        lost = {
            program.name: len(program.answered.intersection(numbers) - self.arrivals.of(program))
            for program in self.given
        }
        say(f"flash: {presence}, {end}: lost of {len(numbers)}: "
            + ", ".join(f"{name} {count}" for name, count in lost.items()))
        return lost

    def losses(self):
        for program in self.sampling:
            program.kill()
        found = {}
        for presence, end in CUTS[2:] if self.options.quick else CUTS:
            rounds = [self.cut(presence, end) for _ in range(self.options.cuts)]
            found[f"{presence}, {end}"] = {name: [one[name] for one in rounds] for name in rounds[0]} if rounds else {}
        return found


def measure(ground, options):
    if os.geteuid():
        raise BenchError("flash mounts file systems and reads the kernel's trace: it needs root")
    if not Path(COLLECTD).exists():
        raise BenchError("collectd is missing; install the Debian package collectd-core (deploy/prepare bench does)")
    is_sound = 64 <= options.size <= 4096 and options.rate > 0 and options.burst >= 1
    if not is_sound or min(options.cuts, options.warm_up) < 0:
        raise BenchError(
            "--size is 64 to 4096, --rate more than 0, --burst at least 1, --cuts and --warm-up at least 0")
    if options.quick:
        vars(options).update({name.replace("-", "_"): value for name, value in QUICK.items()})
    stack = []
    try:
        one = Run(ground, options, stack)
        for program in one.sampling:
            program.start()
        one.start()
        one.costs()
        lost = one.losses()
    except flash_trace.EventsLost as error:
        raise BenchError(f"{error}; --burst with fewer messages needs less room") from error
    finally:
        while stack:
            stack.pop()()
    return {"size": options.size, "warm-up": options.warm_up, "known": one.known, "settle": options.settle,
            "situations": one.situations, "lost": lost,
            "programs": {program.name: {"title": program.title, "kept": program.kept, "given": program.is_given,
                                        "forwards later": program.forwards_later}
                         for program in one.programs}}


def cost_rows(result):
    rows = []
    for situation, found in result["situations"].items():
        for name, figures in found["programs"].items():
            program, count = result["programs"][name], figures["messages"]
            # Sensors are read as often as ever, whatever happens.
            if program["given"]:
                is_about = "backlog" not in situation or program["forwards later"]
            else:
                is_about = "a second" in situation
            if is_about and count:
                each = {key: value / count for key, value in figures.items()}
                times = f"{each['bytes'] / result['size']:.1f}" if program["given"] else "–"
                rows.append([situation, program["title"], f"{each['bytes']:.0f}", times, f"{each['own']:.0f}",
                             *(f"{each[key]:.2f}" for key in ("syncs", "flushes", "pages"))])
    return rows


def tables(result):
    counts = ", ".join(f"{found['messages']} ({name})" for name, found in result["situations"].items())
    notes = [
        f"Messages: {counts}; before them {result['warm-up']} that Latchkey kept and sent, so that its log is "
        f"reused. At once: {WIDTH} under way at a time. Each program has ext4 of its own, with its defaults, on a "
        "loop device; all run at the same time. The kernel's tracepoints count: block_rq_issue for bytes, pages and "
        "flushes of the device's cache, ext4_sync_file_enter and ext4_sync_fs for syncs (fsync, fdatasync, msync, "
        f"sync). sync_file_range would show as bytes. A situation ends {result['settle']:g} s after its last "
        "message, and then the benchmark syncs its file system: what that writes counts, because the kernel would "
        "write it within half a minute, and the sync does not.",
        "Of the bytes, those of the file system are its journal, inodes and maps. Distinct pages are pages of 4 KiB "
        "of the device that were written at least once in the situation, for each of its messages.",
    ]
    if missing := [f"`{setting}`" for setting in NEW if setting not in result["known"]]:
        notes.append(f"This program's `[outbox]` has no {' and no '.join(missing)}: there is no row for 0.")
    notes += [
        "Latchkey's own readings are one message a second of four values; no program waits for an answer.",
        "Mosquitto saves every 1800 s unless told otherwise, longer than a situation lasts: nothing is what it "
        "writes between two saves, and what it would lose is of that time. Each save writes the whole database "
        "anew, so that saving each change costs more the more messages wait.",
        "collectd sends a list of values of the same length, and forgets what comes while the broker is away: it "
        "has no backlog."
    ]
    cost = Table(f"What a message of {result['size']} bytes costs the flash", [
        "situation", "program", "bytes", "× payload", "of the file system", "syncs", "cache flushes", "distinct pages"
    ], cost_rows(result), notes)
    titles = list(result["lost"])
    each = SLOW + FAST
    rows = [[program["title"], program["kept"], *(shown(result["lost"][title].get(name, [])) for title in titles)]
            for name, program in result["programs"].items() if program["given"]]
    lost = Table(f"Lost of {each} messages that the program had said it has", [
        "program", "it promises to keep", *titles
    ], rows, [
        f"{SLOW} messages came {EVERY:g} s apart and {FAST} at once; with the answer to the last, each program was "
        "killed (SIGKILL), and for a power cut its file system was shut down in the same moment without writing its "
        "journal (EXT4_IOC_SHUTDOWN), so that only what the device had been given was left. Then it was started "
        "again with the broker there, and what never arrived is lost: a figure for each try. A device that loses "
        "its cache loses more of what was not synced."
    ])
    return [cost, lost]


def shown(counts):
    return ", ".join(map(str, counts)) or "–"
