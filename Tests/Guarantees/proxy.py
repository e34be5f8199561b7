"""A TCP proxy before a broker that can go wrong in the ways a network does. It reads nothing of what it passes on."""

import contextlib
import queue
import selectors
import socket
import struct
import threading

ROOM = 1 << 18    # bytes that may wait in each direction


def reset(end):
    """Closes a connection so that the other side sees a reset, not an end."""
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()


class Way:
    """One direction of a connection: what waits, and whether the end has been said or passed on."""

    def __init__(self, source, target):
        self.source, self.target = source, target
        self.waiting, self.has_ended, self.is_closed = bytearray(), False, False


class Link:
    def __init__(self, agent, broker):
        self.agent, self.broker = agent, broker
        self.to_broker, self.to_agent = Way(agent, broker), Way(broker, agent)

    def ways(self):
        return self.to_broker, self.to_agent


class Proxy:
    """Listens on a port of its own for as long as it lives. All that it does happens on one thread."""

    def __init__(self, port, broker_port):
        self.port, self.broker_port = port, broker_port
        self.links, self.orders = [], queue.SimpleQueue()
        self.is_open, self.is_held, self.is_stalled, self.is_over = True, False, False, False
        self.accepted = 0
        self.listener = socket.create_server(("127.0.0.1", port))
        self.listener.setblocking(False)
        self.waker, self.wake = socket.socketpair()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    # -- orders, from any thread; each is carried out when it returns

    def hold(self):
        """From now on nothing reaches the agent; what it sends goes on to the broker."""
        self.order(lambda: setattr(self, "is_held", True))

    def cut(self):
        """Resets both sides of every connection, and forgets what waited."""
        def act():
            for link in list(self.links):
                self.drop(link)
            self.is_held = False
        self.order(act)

    def half_close(self, towards):
        """Ends one direction of every connection: "agent" or "broker" is told that no more comes."""
        def act():
            for link in self.links:
                way = link.to_agent if towards == "agent" else link.to_broker
                way.waiting.clear()
                way.has_ended = True
        self.order(act)

    def stall(self, stalled):
        """Neither passes on nor takes anything, without an end, until it is told to go on."""
        self.order(lambda: setattr(self, "is_stalled", stalled))

    def gate(self, is_open, resetting=False):
        """Whether new connections are let through, else they are reset; those there are reset if that is asked for."""
        def act():
            self.is_open = is_open
            if resetting:
                for link in list(self.links):
                    self.drop(link)
        self.order(act)

    def close(self):
        self.order(lambda: setattr(self, "is_over", True))
        self.thread.join(10)

    def order(self, act):
        done = threading.Event()
        self.orders.put((act, done))
        self.wake.send(b"\0")
        done.wait(10)

    # -- the thread

    def serve(self):
        while not self.is_over:
            with selectors.DefaultSelector() as ready:
                ready.register(self.waker, selectors.EVENT_READ)
                ready.register(self.listener, selectors.EVENT_READ)
                for end, events in self.interests().items():
                    ready.register(end, events)
                chosen = {key.fileobj: events for key, events in ready.select()}
            if self.waker in chosen:
                self.waker.recv(64)
                while not self.orders.empty():
                    act, done = self.orders.get()
                    act()
                    done.set()
                # What was ready may be closed by now.
                continue
            if self.listener in chosen:
                self.accept()
            for link in list(self.links):
                self.pass_on(link, chosen)
        for link in list(self.links):
            self.drop(link)
        self.listener.close()

    def interests(self):
        wanted = {}
        for link in self.links:
            for way in link.ways():
                if self.is_stalled:
                    continue
                if not way.has_ended and len(way.waiting) < ROOM:
                    wanted[way.source] = wanted.get(way.source, 0) | selectors.EVENT_READ
                if (way.waiting or way.has_ended and not way.is_closed) and not self.keeps(link, way):
                    wanted[way.target] = wanted.get(way.target, 0) | selectors.EVENT_WRITE
        return wanted

    def keeps(self, link, way):
        return self.is_held and way is link.to_agent

    def accept(self):
        agent, _ = self.listener.accept()
        if not self.is_open:
            reset(agent)
            return
        try:
            broker = socket.create_connection(("127.0.0.1", self.broker_port), timeout=2)
        except OSError:
            reset(agent)
            return
        for end in agent, broker:
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.accepted += 1
        self.links.append(Link(agent, broker))

    def drop(self, link):
        self.links.remove(link)
        reset(link.agent)
        reset(link.broker)

    def pass_on(self, link, chosen):
        try:
            for way in link.ways():
                if chosen.get(way.source, 0) & selectors.EVENT_READ and not way.has_ended:
                    piece = way.source.recv(65536)
                    way.waiting += piece
                    way.has_ended = not piece
                if chosen.get(way.target, 0) & selectors.EVENT_WRITE and not self.keeps(link, way):
                    if way.waiting:
                        del way.waiting[:way.target.send(way.waiting)]
                    if way.has_ended and not way.waiting and not way.is_closed:
                        way.target.shutdown(socket.SHUT_WR)
                        way.is_closed = True
        except BlockingIOError:
            return
        except OSError:
            self.drop(link)
            return
        if all(way.is_closed for way in link.ways()):
            self.links.remove(link)
            link.agent.close()
            link.broker.close()
