"""Tests of what the flash benchmark makes of the kernel's lines. Run: python3 -m unittest discover -s
Tests/Benchmarks"""

import contextlib
import threading
import unittest
from types import SimpleNamespace

from flash import cost_rows
from flash_arrivals import Arrivals
from flash_programs import Collectd, origin, payload
from flash_trace import EventsLost, Written, read

LINES = """\
# tracer: nop
            sync-26896   [001] .....  1323.132482: ext4_sync_file_enter: dev 7,0 ino 12 parent 2 datasync 1
            sync-26896   [001] .....  1323.132540: block_rq_issue: 7,0 WS 4096 () 299008 + 8 be,0,4 [sync]
    jbd2/loop0-8-26842   [001] .....  1323.136381: block_rq_issue: 7,0 WSM 28672 () 262416 + 56 be,0,3 [jbd2/loop0-8]
    kworker/1:1H-44      [001] .....  1323.136445: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [kworker/1:1H]
            sync-26897   [000] .....  1323.142574: block_rq_issue: 7,0 WS 4096 () 299008 + 8 be,0,4 [sync]
         python3-26759   [000] .....  1323.125373: block_rq_issue: 7,0 RM 4096 () 33064 + 8 be,0,4 [python3]
      a [0] b: c-26900   [000] d....  1323.150000: block_rq_issue: 7,1 FWFS 8192 () 16 + 16 be,0,4 [a [0] b: c]
         python3-26759   [000] .....  1323.160000: ext4_sync_fs: dev 7,1 wait 1
         python3-26759   [000] .....  1323.170000: block_rq_issue: 7,2 WS 4096 () 0 + 8 be,0,4 [python3]
""".splitlines()


class TraceTests(unittest.TestCase):
    def test_counts_what_each_device_was_given(self):
        found = read(LINES, ["7,0", "7,1"])
        self.assertEqual(found["7,0"].figures(), {"bytes": 36864, "own": 28672, "syncs": 1, "flushes": 1, "pages": 8})
        self.assertEqual(found["7,1"].figures(), {"bytes": 8192, "own": 0, "syncs": 1, "flushes": 0, "pages": 2})
        self.assertEqual(set(found), {"7,0", "7,1"})

    def test_counts_a_page_once_however_often_and_in_whatever_part_it_is_written(self):
        written = Written()
        for sector, length in ((8, 4096), (8, 4096), (9, 512), (15, 1024), (24, 512)):
            written.write(sector, length, False)
        self.assertEqual(written.pages, {1, 2, 3})
        self.assertEqual(written.bytes, 10240)

    def test_adds_what_was_left_in_memory_without_the_sync_that_wrote_it(self):
        written, left = read(LINES, ["7,0"])["7,0"], read(LINES, ["7,1"])["7,1"]
        written.add_left(left)
        self.assertEqual(written.figures(), {"bytes": 45056, "own": 28672, "syncs": 1, "flushes": 1, "pages": 10})

    def test_gives_no_figures_when_the_kernel_has_lost_events(self):
        with self.assertRaises(EventsLost):
            read([*LINES, "CPU:1 [LOST 17 EVENTS]"], ["7,0"])


class MessageTests(unittest.TestCase):
    def test_a_message_has_its_size_and_says_where_it_comes_from(self):
        for number in (0, 99, 1_000_000):
            message = payload("saving", number, 190)
            self.assertEqual(len(message), 190)
            self.assertEqual(origin(message.encode()), ("saving", number))

    def test_the_first_value_of_a_list_is_its_number(self):
        self.assertEqual(origin(b"1700000000.125:42:1234567:1234567\0"), (Collectd.name, 42))

    def test_nothing_else_is_a_message(self):
        for other in (b"", b"online", b'{"from": "saving"}', b"1700000000:x"):
            self.assertIsNone(origin(other))


class TableTests(unittest.TestCase):
    def rows(self, situation, messages, **program):
        figures = {"messages": messages, "bytes": 8192, "own": 4096, "syncs": 2, "flushes": 4, "pages": 3}
        return cost_rows({"size": 128, "situations": {situation: {"programs": {"one": figures}}},
                          "programs": {"one": {"title": "One", "given": True, "forwards later": True, **program}}})

    def test_a_cost_is_for_each_message(self):
        self.assertEqual(self.rows("away, at once", 4),
                         [["away, at once", "One", "2048", "16.0", "1024", "0.50", "1.00", "0.75"]])

    def test_a_program_that_sends_nothing_later_has_no_cost_of_that(self):
        self.assertEqual(self.rows("backlog: sent afterwards", 4, **{"forwards later": False}), [])
        self.assertEqual(len(self.rows("backlog: sent afterwards", 4)), 1)

    def test_own_readings_count_where_messages_come_at_a_rate(self):
        self.assertEqual([row[2:4] for row in self.rows("away, 2 a second", 2, given=False)], [["4096", "–"]])
        self.assertEqual(self.rows("away, at once", 2, given=False), [])
        self.assertEqual(self.rows("away, 2 a second", 0, given=False), [])


class Meeting(list):
    """Lets two threads that look at it at the same time both see the same."""

    def __init__(self):
        super().__init__()
        self.both = threading.Barrier(2, timeout=0.5)

    def __getitem__(self, part):
        found = super().__getitem__(part)
        # Broken if only one looks at a time.
        with contextlib.suppress(threading.BrokenBarrierError):
            self.both.wait()
        return found


class ArrivalTests(unittest.TestCase):
    def test_no_message_is_missed_when_several_programs_are_asked_about_at_once(self):
        program, broker = SimpleNamespace(name="one"), SimpleNamespace(seen=Meeting())
        arrivals = Arrivals(broker)
        broker.seen += [payload("one", number, 64).encode() for number in range(10)]
        threads = [threading.Thread(target=arrivals.of, args=[program]) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        broker.seen += [payload("one", number, 64).encode() for number in range(10, 20)]
        self.assertEqual(arrivals.of(program), set(range(20)))


if __name__ == "__main__":
    unittest.main()
