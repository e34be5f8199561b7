"""A campaign: numbered and equal messages are published through the agent while something happens, and counted."""

import itertools
import subprocess
import threading
import time

import conditions
from ground import REPOSITORY, BenchError, await_true, free_port
from observer import Observer
from proxy import Proxy

BURST = 100    # lines that are handed over at once
PAUSE = 0.05    # seconds between bursts
SINGLES = 1    # messages after each burst that are published by a command each


class Disk:
    """A file system whose power can be cut, of the crash tests, over a folder."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            ["/usr/bin/python3", REPOSITORY / "Tests/Crash/powercut.py"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.order(f"mount {folder}")

    def order(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer.startswith("ok"):
            raise BenchError(f"powercut.py: {answer or 'has ended'}")
        return answer

    def close(self):
        """Unmounts it and forgets everything."""
        self.process.stdin.close()
        self.process.wait(20)


class Stream:
    """The messages of one topic. A burst whose acceptance was not heard of is published again, as a program would."""

    def __init__(self, stage, topic, qos, payload):
        self.stage, self.topic, self.qos, self.payload = stage, topic, qos, payload
        self.sent = self.accepted = 0

    def publish(self, count, is_over):
        payloads = [self.payload(self.accepted + number) for number in range(count)]
        words = ["publish", "--raw", self.topic, "--qos", str(self.qos)]
        more = {"input": "".join(f"{one}\n" for one in payloads)} if count > 1 else {}
        words += ["--lines"] if count > 1 else payloads
        while True:
            self.sent += count
            try:
                self.stage.board.command(*words, **more)
                self.accepted += count
                return
            except (BenchError, subprocess.TimeoutExpired):
                if is_over.is_set():
                    return
                # The agent is away: nothing tells when its socket is there again.
                time.sleep(0.1)


class Publisher:
    """Publishes on both streams until it is told to end."""

    def __init__(self, streams):
        self.streams, self.is_over = streams, threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.is_over.is_set():
            for stream in self.streams:
                stream.publish(BURST, self.is_over)
                for _ in range(SINGLES):
                    stream.publish(1, self.is_over)
            self.is_over.wait(PAUSE)

    def end(self):
        self.is_over.set()
        self.thread.join(180)


class Stage:
    """A broker, the proxy before it, and agents that know only the proxy; `settings` are theirs, by table."""

    numbers = itertools.count(1)
    seed = 20

    def __init__(self, ground, broker, settings, is_enrolled):
        self.ground, self.broker, self.settings, self.is_enrolled = ground, broker, settings, is_enrolled
        self.proxy = Proxy(free_port(), broker.port)
        self.boards, self.board, self.disk, self.observer, self.streams = {}, None, None, None, {}

    def take_board(self, on_disk):
        """The agent of the last campaign, started anew so that it does not wait from earlier troubles."""
        self.board = self.boards.get(on_disk)
        if self.board:
            self.board.stop()
            self.board.start().await_connected(120)
        else:
            broker = {**self.settings.get("broker", {}), "host": "localhost", "port": self.proxy.port}
            board = self.ground.board(f"board-{next(self.numbers)}", **{**self.settings, "broker": broker})
            if on_disk:
                self.disk = Disk(board.folder / "state")
            board.start()
            self.board = self.boards[on_disk] = board.enroll() if self.is_enrolled else board.join()

    def give_up_board(self):
        """An agent that does not go on is not taken again."""
        for on_disk, board in list(self.boards.items()):
            if board is self.board:
                board.stop()
                del self.boards[on_disk]
                if on_disk:
                    self.disk.close()
                    self.disk = None

    def await_accepted(self, messages):
        """Until the agent has accepted so many more: on a busy machine that takes longer."""
        def accepted():
            return sum(stream.accepted for stream in self.streams.values())
        end = accepted() + messages
        await_true(120, f"the acceptance of {messages} more messages", lambda: accepted() >= end)

    def await_connection(self, after=None):
        """The agent waits longer after each connection that did not last; so does this."""
        if after is not None:
            await_true(120, "another connection of the agent", lambda: self.proxy.accepted > after)
        await_true(120, "the agent's connection", self.is_connected, 0.1)

    def is_connected(self):
        return self.proxy.links and self.board.status("broker", "state") == "connected"

    def restart_broker(self, stop, at_once=False):
        """The agent is let in again when the observer has its session."""
        self.proxy.gate(False, resetting=at_once)
        stop(self.broker)
        if not self.observer.await_lost(30):
            raise BenchError("the observer did not lose its connection")
        self.broker.start()
        if not self.observer.await_subscribed(60):
            raise BenchError("the observer did not come back")
        self.proxy.gate(True)
        self.await_connection()

    def run(self, condition, qos, rounds):
        """One campaign. What makes the agent stand still ends it, and what did not arrive by then is lost."""
        self.take_board(condition == "power cut")
        prefix = f"guarantees/{next(self.numbers)}"
        self.observer = Observer(self.broker.plain_port, f"{prefix}/#", self.broker.version)
        if not self.observer.await_subscribed(60):
            raise BenchError("the observer did not come")
        streams = {"numbered": Stream(self, f"{prefix}/numbered", qos, str),
                   "equal": Stream(self, f"{prefix}/equal", qos, lambda _: "equal")}
        self.streams = streams
        dropped, trouble, start = self.broker.count_dropped(), None, time.monotonic()
        publisher = Publisher(streams.values())
        try:
            conditions.ALL[condition](self, rounds)
            publisher.end()
            self.await_drained()
        except BenchError as error:
            trouble = str(error)
        finally:
            publisher.end()
        self.observer.await_quiet(1.5, 30)
        self.observer.close()
        seconds = time.monotonic() - start
        if trouble:
            self.give_up_board()
        return [{
            "broker": self.broker.name, "qos": qos, "condition": condition, "messages": kind,
            "seconds": round(seconds, 1), "sent": stream.sent, "accepted": stream.accepted,
            **count(kind, self.observer.arrivals[stream.topic], stream.accepted),
            "dropped by the broker": self.broker.count_dropped() - dropped, "trouble": trouble,
        } for kind, stream in streams.items()]

    def await_drained(self, standstill=60):
        """Waits until the outbox is empty, for as long as it gets emptier."""
        least, end = None, time.monotonic() + standstill
        while depth := self.depth():
            if least is None or depth < least:
                least, end = depth, time.monotonic() + standstill
            if time.monotonic() > end:
                error = self.board.status("broker", "lastError") or {}
                raise BenchError(f"{depth} messages stay in the outbox: {error.get('message', 'no error')}")
            time.sleep(0.1)

    def depth(self):
        depth = self.board.status("outbox", "depth")
        return 1 << 60 if depth is None else depth

    def close(self):
        for board in self.boards.values():
            board.stop()
        if self.disk:
            self.disk.close()
        self.proxy.close()


def count(kind, arrivals, accepted):
    """What arrived, held against what was accepted: of numbered messages all numbers below."""
    if kind == "equal":
        return {"arrived": len(arrivals), "distinct": len(set(arrivals)), "repeated": max(0, len(arrivals) - accepted),
                "reordered": None, "lost": max(0, accepted - len(arrivals))}
    seen, newest, reordered = set(), -1, 0
    for number in map(int, arrivals):
        if number not in seen:
            reordered += number < newest
            newest = max(newest, number)
            seen.add(number)
    return {"arrived": len(arrivals), "distinct": len(seen), "repeated": len(arrivals) - len(seen),
            "reordered": reordered, "lost": sum(number not in seen for number in range(accepted))}
