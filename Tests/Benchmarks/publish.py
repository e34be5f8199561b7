"""Publishing: distinct messages of 190 bytes at QoS 1 over mutual TLS, as a program hands them over, until the broker
has them."""

import time

from figures import Table, cpu_seconds, median, run, spread, verdict
from ground import BenchError, paho_python, say
from onlooker import Onlooker

SIZE = 190

PAHO = """
import sys
import paho.mqtt.client as mqtt
host, port, name, user, password, ca, cert, key, topic = sys.argv[1:]
client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=name)
client.username_pw_set(user, password)
client.tls_set(ca, cert, key)
client.max_queued_messages_set(0)
client.connect(host, int(port))
client.loop_start()
last = [client.publish(topic, line.rstrip(b"\\n"), qos=1) for line in sys.stdin.buffer]
for info in last:
    info.wait_for_publish()
client.disconnect()
client.loop_stop()
"""


def add_options(parser):
    parser.add_argument("--messages", type=int, default=10_000, help="how many in each run (10000)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, in turn (5)")
    parser.add_argument("--no-paho", action="store_true", help="leave paho-mqtt out, which is fetched from PyPI")


def lines(path, count, mark):
    """Messages that differ from each other and from those of other runs."""
    with path.open("w") as file:
        for number in range(count):
            text = f'{{"run": "{mark}", "number": {number}, "value": {number * 7919 % 100_003}, "text": "'
            file.write(text + "x" * (SIZE - len(text) - 2) + '"}\n')


class Contest:
    """One way to publish: how it is called, and what else works for it."""

    def __init__(self, name, words, topic, board=None):
        self.name, self.words, self.topic, self.board = name, words, topic, board
        self.walls, self.own, self.agent = [], [], []

    @property
    def cpu(self):
        return [own + agent for own, agent in zip(self.own, self.agent)]

    def publish(self, ground, messages, number):
        source = ground.folder / "lines"
        lines(source, messages, f"{self.name}-{number}")
        onlooker = Onlooker(ground.plain_port, self.topic)
        before = cpu_seconds(self.board.process.pid) if self.board else 0
        start = time.monotonic()
        with source.open("rb") as stdin, (ground.folder / "program.log").open("wb") as log:
            ended = run(self.words, stdin=stdin, stdout=log, stderr=log)
        if ended.status:
            raise BenchError(f"{self.name} ended with {ended.status}: "
                             + (ground.folder / "program.log").read_text()[-400:])
        end = onlooker.wait(messages, 60)
        onlooker.close()
        if end is None or len(set(onlooker.seen)) != messages:
            raise BenchError(f"{self.name}: the broker has {len(set(onlooker.seen))} of {messages} messages")
        if self.board:
            self.board.await_drained(every=0.5)
            # Rows leave the outbox within two seconds of the acknowledgement, and that is work too.
            time.sleep(2.5)
            self.agent.append(cpu_seconds(self.board.process.pid) - before)
        else:
            self.agent.append(0.0)
        self.own.append(ended.cpu)
        self.walls.append(end - start)


def measure(ground, options):
    durable = ground.board("durable").start().enroll()
    plain = ground.board("plain").start().join()
    memory = ground.board("memory", outbox={"durable": False}).start().enroll()
    peer = ground.peer("publisher")
    topic = durable.topics + "/bench"
    lab = peer.folder
    contests = [
        Contest("latchkey", [ground.latchkey, "publish", "bench", "--lines", "--socket", durable.socket], topic,
                durable),
        Contest("latchkey, account at a broker",
                [ground.latchkey, "publish", "bench", "--lines", "--socket", plain.socket], plain.topics + "/bench",
                plain),
        Contest("latchkey, outbox in memory",
                [ground.latchkey, "publish", "--raw", topic, "--lines", "--socket", memory.socket], topic,
                memory),
        Contest("mosquitto_pub -l -q 1", ["mosquitto_pub", *peer.options, "-t", topic, "-l", "-q", "1"], topic),
    ]
    if not options.no_paho:
        contests.append(
            Contest("paho-mqtt (Python)", [
                paho_python(), "-c", PAHO, "localhost", peer.port, peer.client_id, peer.user, peer.password,
                f"{lab}/ca.pem", f"{lab}/cert.pem", f"{lab}/key.pem", topic
            ], topic))
    for number in range(options.runs):
        for contest in contests:
            contest.publish(ground, options.messages, number)
            say(f"publish {number + 1}/{options.runs}: {contest.name}: {contest.walls[-1]:.2f} s, "
                f"CPU {contest.agent[-1]:.2f} + {contest.own[-1]:.2f} s")
    return {
        "messages": options.messages, "bytes": SIZE, "runs": options.runs,
        "contests": {c.name: {"wall": c.walls, "agent": c.agent, "program": c.own} for c in contests},
    }


def tables(result):
    found = result["contests"]
    agent, plain, alone, pub, *rest = found.values()

    def total(contest):
        return [a + p for a, p in zip(contest["agent"], contest["program"])]
    rows = [[name, spread(c["agent"]) if any(c["agent"]) else "–", spread(c["program"]), f"{median(total(c)):.2f}",
             f"{median(total(c)) / median(total(pub)):.2f}", spread(c["wall"])] for name, c in found.items()]
    ratio = median(agent["agent"]) / median(total(pub))
    notes = [
        "Durable, the agent's CPU is " + verdict(ratio, 1.2, "times mosquitto_pub's")
        + ". With the program that hands the messages "
        f"over it is {median(total(agent)) / median(total(pub)):.2f} times; with the outbox in memory the agent's "
        f"alone is {median(alone['agent']) / median(total(pub)):.2f} times.",
        f"At an account of the board's own it is {median(plain['agent']) / median(agent['agent']):.2f} times that.",
        "Its wall time is " + verdict(median(agent["wall"]) / median(pub["wall"]), 1.0, "times mosquitto_pub's") + ".",
        *("paho-mqtt's CPU is "
          + verdict(median(total(paho)) / median(agent["agent"]), 4, "times the agent's", least=True)
          + f", and {median(total(paho)) / median(total(agent)):.2f} times that of agent and program together."
          for paho in rest),
        "Wall time is from the start of the program until an observer at the broker has the last message. The CPU "
        "of the agent includes removing the messages from its outbox.",
    ]
    return [Table(
        f"Publishing {result['messages']} distinct messages of {result['bytes']} bytes at QoS 1",
        ["", "agent's CPU, s", "program's CPU, s", "together", "× mosquitto_pub", "wall, s"], rows, notes)]
