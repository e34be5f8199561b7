"""Backlog: readings queued while the broker is away, then sent, beside libmosquitto alone; memory, bytes written, and
the time to open the store."""

import subprocess
import time
from pathlib import Path

from figures import Table, cpu_seconds, fields, memory, run, verdict
from ground import BenchError, await_true, say
from onlooker import Onlooker
from publish import SIZE, lines

MEMORY_AIM = 16_000    # kB of anonymous memory
WINDOW = 100            # messages in flight, of broker.window unless set
RATE_AIM = 150_000     # readings a second


def add_options(parser):
    parser.add_argument("--readings", type=int, default=1_000_000, help="how many (1000000)")
    parser.add_argument("--account", action="store_true",
                        help="at an account of the board's own at the broker, without a gateway")
    parser.add_argument("--window", type=int, default=WINDOW, help=f"the most messages in flight ({WINDOW})")


class Use:
    """What the agent has used since the beginning of a phase."""

    def __init__(self, board):
        self.process = board.process.pid
        self.peak = 0
        self.restart()

    def restart(self):
        self.start, self.written, self.cpu = time.monotonic(), self.bytes(), cpu_seconds(self.process)

    def bytes(self):
        return fields(f"/proc/{self.process}/io")["write_bytes"]

    def look(self):
        self.peak = max(self.peak, memory(self.process)["anonymous"])

    def end(self, readings, wall=None):
        self.look()
        wall = wall or time.monotonic() - self.start
        return {
            "seconds": wall, "rate": readings / wall, "cpu": cpu_seconds(self.process) - self.cpu,
            "anonymous": self.peak, "written": (self.bytes() - self.written) / readings
        }


def opening(ground, board):
    """Seconds from exec until the local API answers, and until the outbox is open."""
    start = time.monotonic()
    board.start()
    answers = time.monotonic() - start
    await_true(60, "the open outbox", lambda: isinstance(board.status("outbox", "depth"), int), 0.002)
    return {"answers": answers, "open": time.monotonic() - start, "anonymous": memory(board.process.pid)["anonymous"]}


def queue(ground, board, readings):
    """In pieces, so that memory is looked at on the way."""
    source, use, piece, spent = ground.folder / "lines", Use(board), 50_000, 0.0
    for first in range(0, readings, piece):
        count = min(piece, readings - first)
        lines(source, count, f"backlog-{first}")
        with source.open("rb") as stdin, (ground.folder / "program.log").open("wb") as log:
            ended = run([ground.latchkey, "publish", "bench", "--lines", "--socket", board.socket], stdin=stdin,
                        stdout=log, stderr=log)
        spent += ended.wall
        if ended.status:
            raise BenchError("latchkey publish failed: " + (ground.folder / "program.log").read_text()[-300:])
        use.look()
        if (first + count) % 250_000 == 0:
            say(f"{first + count} readings queued, anonymous {use.peak / 1e3:.1f} MB")
    # Making the lines is not the agent's time.
    return use.end(readings, spent)


def drain(ground, board, readings):
    """From the broker's presence until the outbox is empty."""
    board.start()
    use = Use(board)
    board.await_connected()
    broker = cpu_seconds(ground.broker.pid)
    use.restart()
    deadline = use.start + 120 + readings / 2_000
    while board.status("outbox", "depth"):
        use.look()
        if time.monotonic() > deadline:
            raise BenchError(
                f"{board.status('outbox', 'depth')} of {readings} readings are left after {deadline - use.start:.0f} s")
        time.sleep(0.1)
    found = {**use.end(readings), "broker": cpu_seconds(ground.broker.pid) - broker}
    # The broker counts for itself what it was given, and tells each second.
    counter = Onlooker(ground.plain_port, "$SYS/broker/publish/messages/received")
    await_true(60, f"the broker's word of {readings} readings",
               lambda: any(int(text) >= readings for text in list(counter.seen)))
    counter.close()
    return found


def ceiling(ground, peer, topic, options):
    """What the broker takes of libmosquitto alone, which has nothing to read, keep or remove."""
    program = ground.folder / "bare-publisher"
    subprocess.run(
        ["cc", "-O2", "-o", program,
         Path(__file__).with_name("ceiling.c"), "-lmosquitto", "-lssl", "-lcrypto"], check=True)
    found = {}
    for form in ("direct", "together"):
        broker = cpu_seconds(ground.broker.pid)
        done = subprocess.run(
            [program, form, str(options.window), str(options.readings), str(SIZE), topic, "localhost", str(peer.port),
             peer.client_id, peer.user, peer.password,
             *(f"{peer.folder}/{name}.pem" for name in ("ca", "cert", "key"))],
            check=True, capture_output=True, text=True, timeout=600)
        seconds, cpu = map(float, done.stdout.split())
        found[form] = {
            "seconds": seconds, "rate": options.readings / seconds, "cpu": cpu,
            "broker": cpu_seconds(ground.broker.pid) - broker
        }
        say(f"libmosquitto alone, {form}: {found[form]['rate']:.0f} a second")
    return found


def measure(ground, options):
    board = ground.board("backlog", outbox={"limit_bytes": options.readings * 512 + (64 << 20)},
                         broker={"window": options.window}).start()
    board = board.join() if options.account else board.enroll()
    peer, topic = ground.peer("ceiling"), board.topics + "/bench"
    board.stop()
    empty = opening(ground, board)
    board.await_connected()
    ground.stop_broker()
    await_true(30, "the lost connection", lambda: board.status("broker", "state") != "connected")
    queued = queue(ground, board, options.readings)
    size = sum(path.stat().st_size for path in Path(board.folder, "state").glob("outbox-*"))
    board.stop()
    full = opening(ground, board)
    if board.status("outbox", "depth") != options.readings:
        raise BenchError(
            f"{board.status('outbox', 'depth')} of {options.readings} readings are there after the restart")
    # The agent waits longer with every attempt that fails: it begins anew with the broker there.
    board.stop()
    ground.run_broker()
    drained = drain(ground, board, options.readings)
    return {
        "readings": options.readings, "bytes": SIZE, "window": options.window, "queued": queued, "drained": drained,
        "empty": empty, "full": full, "file": size, "ceiling": ceiling(ground, peer, topic, options)
    }


def tables(result):
    readings, drained, alone = result["readings"], result["drained"], result["ceiling"]
    rows = [[
        name, f"{at['seconds']:.1f}", f"{at['rate']:.0f}", f"{at['cpu'] * 1e6 / readings:.1f}",
        f"{at['broker'] * 1e6 / readings:.1f}" if "broker" in at else "–",
        f"{at['written']:.0f}" if "written" in at else "–", f"{at['anonymous'] / 1e3:.1f}" if "anonymous" in at else "–"
    ] for name, at in (("queued", result["queued"]), ("drained", drained), ("libmosquitto alone", alone["direct"]),
                       ("libmosquitto alone, a write for many", alone["together"]))]
    peak = max(result["queued"]["anonymous"], drained["anonymous"])
    full, empty = result["full"], result["empty"]
    most = max(at["rate"] for at in alone.values())
    return [
        Table(f"A backlog of {readings} readings of {result['bytes']} bytes", [
            "", "s", "a second", "CPU each, µs", "broker's CPU each, µs", "bytes written each", "anonymous at most, MB"
        ], rows, [
            f"Drained: {verdict(drained['rate'], RATE_AIM, 'a second', digits=0, least=True)}. Of libmosquitto "
            f"alone, with the same window of {result['window']} messages and no outbox, the broker takes {most:.0f} "
            f"a second at most: the agent reaches {drained['rate'] / most:.2f} of that.",
            f"Anonymous memory, at most {peak / 1e3:.1f} MB, aim ≤ {MEMORY_AIM / 1e3:g} MB: "
            f"{'met' if peak <= MEMORY_AIM else 'missed'}.",
            f"The store has {result['file'] / 1e6:.0f} MB. From exec until it is open: {full['open'] * 1e3:.0f} ms "
            f"full, {empty['open'] * 1e3:.0f} ms empty.",
            "Bytes written are those that the agent caused to be sent to the disk (write_bytes of /proc/PID/io), "
            "for each reading. Readings are handed over by `latchkey publish --lines`, whose time counts."
        ])
    ]
