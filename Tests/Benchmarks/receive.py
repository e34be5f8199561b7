"""Receiving: messages at QoS 1 to one and to ten local subscribers of the agent, as JSON and bare, beside as many
mosquitto_sub."""

import resource
import subprocess
import time

from figures import Table, cpu_seconds, median, spread, verdict
from ground import await_true, say
from onlooker import Onlooker


def add_options(parser):
    parser.add_argument("--messages", type=int, default=10_000, help="how many in each run (10000)")
    parser.add_argument("--rate", type=int, default=1_500, help="messages a second (1500)")
    parser.add_argument("--runs", type=int, default=2, help="runs of each, in turn (2)")


def feed(onlooker, topic, messages, rate):
    """Publishes at QoS 1, evenly in bursts of 20 ms."""
    burst = max(1, rate // 50)
    start = time.monotonic()
    for first in range(0, messages, burst):
        onlooker.publish_all(topic, [b"%08d " % n + b"x" * 181 for n in range(first, min(first + burst, messages))],
                             qos=1)
        time.sleep(max(0, start + (first + burst) / rate - time.monotonic()))
    return start


def gather(programs, sinks, messages):
    """Waits until each program has printed all, or nothing comes any more: how many the one with the fewest lacks."""
    sizes, since = [], time.monotonic()
    while any(process.poll() is None for process in programs) and time.monotonic() < since + 5:
        found = [sink.stat().st_size for sink in sinks]
        if found != sizes:
            sizes, since = found, time.monotonic()
        time.sleep(0.02)
    for process in programs:
        if process.poll() is None:
            process.kill()
        process.wait()
    return messages - min(sum(1 for _ in sink.open("rb")) for sink in sinks)


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(ground, options):
    enrolled, plain = ground.board("receiving").start().enroll(), ground.board("plain").start().join()
    feeder = Onlooker(ground.plain_port, "nothing")
    peers = [ground.peer(f"subscriber-{number}") for number in range(10)]
    found = {}
    for number in range(options.runs):
        for count in (1, 10):
            for name in (
                    f"latchkey × {count}", f"latchkey, bare × {count}", f"latchkey, account at a broker × {count}",
                    f"mosquitto_sub × {count}"):
                ours = name.startswith("latchkey")
                board = plain if "account" in name else enrolled
                topic = board.topics + "/bench"
                sinks = [ground.folder / f"got-{index}" for index in range(count)]
                before_agent, before_children = cpu_seconds(board.process.pid), children_cpu()
                programs, errors = [], [sink.with_suffix(".errors") for sink in sinks]
                subscribed = (ground.folder / "broker.log").read_text().count(f" {topic}\n")
                for index, sink in enumerate(sinks):
                    form = ["--payload", "line"] if "bare" in name else ["--json"]
                    words = ([
                        ground.latchkey, "subscribe", "bench", "--count",
                        str(options.messages), *form, "--socket", board.socket
                    ] if ours else [
                        "mosquitto_sub", *peers[index].options, "-t", topic, "-q", "1", "-C",
                        str(options.messages)
                    ])
                    programs.append(subprocess.Popen(words, stdout=sink.open("wb"), stderr=errors[index].open("wb")))
                try:
                    await_true(30, f"the subscriptions of {name}", lambda: (  # noqa: B023  called at once
                        all("subscribed" in path.read_text() for path in errors) if ours else  # noqa: B023
                        (ground.folder / "broker.log").read_text().count(f" {topic}\n")  # noqa: B023
                        >= subscribed + count))  # noqa: B023
                    start = feed(feeder, topic, options.messages, options.rate)
                    lost = gather(programs, sinks, options.messages)
                    wall = time.monotonic() - start
                finally:
                    for process in programs:
                        if process.poll() is None:
                            process.kill()
                            process.wait()
                at = found.setdefault(name, {"agent": [], "programs": [], "wall": []})
                at["agent"].append(cpu_seconds(board.process.pid) - before_agent if ours else 0.0)
                at["programs"].append(children_cpu() - before_children)
                at["wall"].append(wall)
                at["lost"] = at.get("lost", 0) + lost
                say(f"receive {number + 1}/{options.runs}: {name}: agent {at['agent'][-1]:.2f} s, programs "
                    f"{at['programs'][-1]:.2f} s"
                    )
    feeder.close()
    return {"messages": options.messages, "rate": options.rate, "runs": options.runs, "contests": found}


# Of as many mosquitto_sub, by the number of subscribers.
AIMS = {1: 1.5, 10: 1.0}


def tables(result):
    def together(name):
        at = result["contests"][name]
        return median([a + p for a, p in zip(at["agent"], at["programs"])])

    def judged(name, count, aim):
        times = together(f"{name} × {count}") / together(f"mosquitto_sub × {count}")
        return f"{name} × {count}: {verdict(times, aim, 'times the CPU of as many mosquitto_sub')}."
    verdicts = [judged(name, count, aim) for count, aim in AIMS.items() for name in ("latchkey", "latchkey, bare")]
    rows = []
    for name, at in result["contests"].items():
        total = [a + p for a, p in zip(at["agent"], at["programs"])]
        rows.append([
            name,
            spread(at["agent"]) if any(at["agent"]) else "–",
            spread(at["programs"]), f"{median(total):.2f}",
            spread(at["wall"]), at["lost"]
        ])
    return [
        Table(f"Receiving {result['messages']} messages of 190 bytes at QoS 1, {result['rate']} a second", [
            "", "agent's CPU, s", "subscribers' CPU, s", "together", "wall, s", "left out"
        ], rows, [
            "The agent has one connection to the broker whatever the number of subscribers, which get JSON over its "
            "local API or, bare, the payload alone; each mosquitto_sub has a connection with TLS of its own, and "
            "prints the bare payload. Left out: what the subscriber with the fewest lacks, in all runs; of the "
            "agent's, 1000 messages wait for each.", *verdicts
        ])
    ]
