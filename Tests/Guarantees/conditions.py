"""What happens to a campaign while messages are published. Each gets the stage, and returns when it is over."""

import contextlib
import signal
import time

from ground import BenchError, await_true

HOLD = 0.6    # seconds in which answers are held back, so that exchanges are half finished when they are cut
FLOW = 400    # messages that are accepted between two troubles, at least


def calm(stage, _):
    """Nothing; a hundred messages at once on each of two topics, again and again."""
    stage.await_accepted(5 * FLOW)


def cuts(stage, rounds):
    """The broker's answers are held back for 0.6 s, then both sides are reset."""
    for _ in range(rounds + 2):
        stage.await_accepted(FLOW)
        stage.proxy.hold()
        time.sleep(HOLD)
        stage.await_accepted(1)
        stage.proxy.cut()
        stage.await_connection()


def half_close(stage, rounds):
    """One direction of the connection ends, the other stays open: in turn the broker's and the agent's."""
    for number in range(rounds + 1):
        stage.await_accepted(FLOW)
        before = stage.proxy.accepted
        stage.proxy.half_close("broker" if number % 2 else "agent")
        stage.await_connection(after=before)


def stall(stage, rounds):
    """Nothing passes for 4 s and then all of it; the last time, both sides are reset at the end."""
    for number in range(rounds + 1):
        stage.await_accepted(FLOW)
        stage.proxy.stall(True)
        time.sleep(4)
        if number == rounds:
            stage.proxy.cut()
        stage.proxy.stall(False)
        stage.await_connection()


def broker_killed(stage, rounds):
    """SIGKILL; it starts again with what it has written until then."""
    for _ in range(rounds):
        stage.await_accepted(FLOW)
        stage.restart_broker(lambda broker: broker.stop(abruptly=True))


def broker_restarted(stage, rounds):
    """SIGTERM; it starts again with its store."""
    for _ in range(rounds):
        stage.await_accepted(FLOW)
        stage.restart_broker(lambda broker: broker.stop())


def broker_emptied(stage, rounds):
    """SIGTERM; it starts again without its store, and knows no session any more."""
    def empty(broker):
        # What it has acknowledged and still keeps for the observer is lost with the store, and not by the agent.
        stage.observer.await_quiet(1, 20)
        broker.stop()
        broker.forget()
    for _ in range(rounds):
        stage.await_accepted(FLOW)
        stage.restart_broker(empty, at_once=True)


def agent_killed(stage, rounds):
    """SIGKILL of the agent; it starts again."""
    for _ in range(rounds + 1):
        stage.await_accepted(FLOW)
        stage.board.process.kill()
        stage.board.process.wait()
        stage.board.start()
        stage.await_connection()


def power_cut(stage, rounds):
    """The agent's disk fails, keeps what was synced and of the rest nothing or a part; the agent starts again."""
    for number in range(rounds + 1):
        stage.await_accepted(FLOW)
        stage.disk.order(f"cut {20 + 37 * number}")
        # A calm agent may not write at all meanwhile: then the power goes with what it does now.
        with contextlib.suppress(BenchError):
            await_true(3, "the power cut", lambda: stage.disk.order("state").startswith("ok off"))
        stage.board.process.send_signal(signal.SIGKILL)
        stage.board.process.wait()
        stage.disk.order(f"restart {stage.seed + number}")
        stage.board.start()
        stage.await_connection()


ALL = {
    "calm": calm, "cuts": cuts, "half-close": half_close, "stall": stall, "broker killed": broker_killed,
    "broker restarted with its store": broker_restarted, "broker restarted without its store": broker_emptied,
    "agent killed": agent_killed, "power cut": power_cut,
}
