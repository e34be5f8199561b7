"""Tests of what runs the tests. Run: python3 -m unittest discover -s Tests/Runner"""

import io
import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "deploy/testing"))

import lanes  # noqa: E402
from lanes import Lane, Phase, command  # noqa: E402
from results import Failure, Result, not_run, summary  # noqa: E402
from runner import Progress, Runner  # noqa: E402

# Stands for a program of tests: writes the events that its last argument has where it is told to.
PROGRAM = """#!/usr/bin/python3 -B
import sys
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
script = arguments["--filter"]
with open(arguments["--event-stream-output-path"], "w") as events:
    exec(script)
"""
SUITE = {"kind": "test", "payload": {"id": "Doors.DoorTests", "name": "DoorTests", "displayName": "A door"}}
TEST = {"kind": "test", "payload": {"id": "Doors.DoorTests/opens()/x", "name": "opens()", "displayName": "it opens"}}


def event(kind, **payload):
    return {"kind": "event", "payload": {"kind": kind, "testID": TEST["payload"]["id"], "messages": [], **payload}}


def issue(text, known=False):
    return event("issueRecorded", issue={"isKnown": known, "sourceLocation": {"fileID": "D/D.swift", "line": 7}},
                 messages=[{"symbol": "fail", "text": text}])


def script(*records, then=""):
    lines = "".join(json.dumps(record) + "\n" for record in (SUITE, TEST, *records))
    return f"events.write({lines!r}); events.flush()\n{then}"


class RunnerTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        program = self.folder / "tests"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        self.output = io.StringIO()
        self.runner = Runner(self.folder / "output", Progress(self.output), dict(os.environ), program)

    def run_lanes(self, *chosen, workers=2):
        self.runner.run(Phase(chosen, workers))
        return {result.name: result for result in self.runner.results}

    def lane(self, text, minutes=1.0):
        return Lane("doors", minutes, tests=text)

    def test_counts_what_passed_and_was_skipped(self):
        text = script(event("testStarted"), event("testEnded"), event("testSkipped"), event("runEnded"))
        result = self.run_lanes(self.lane(text))["doors"]
        self.assertEqual((result.passed, result.skipped, result.failures), (1, 1, []))

    def test_names_a_failed_test_with_its_suite_what_it_said_and_where(self):
        text = script(event("testStarted"), issue("3 == 4"), event("testEnded"), event("runEnded"), then="sys.exit(1)")
        result = self.run_lanes(self.lane(text))["doors"]
        self.assertEqual(result.passed, 0)
        self.assertEqual(str(result.failures[0]), "✘ A door: it opens\n    3 == 4 (D/D.swift:7)")
        self.assertIn("✘ A door: it opens", self.output.getvalue())

    def test_takes_a_known_issue_for_none(self):
        text = script(event("testStarted"), issue("3 == 4", known=True), event("testEnded"), event("runEnded"))
        self.assertEqual(self.run_lanes(self.lane(text))["doors"].failures, [])

    def test_ends_a_lane_at_its_limit_and_says_what_was_running(self):
        lane = self.lane(script(event("testStarted"), then="import time; time.sleep(600)"), minutes=0.02)
        failure = str(self.run_lanes(lane)["doors"].failures[0])
        self.assertIn("did not end within 0.02 minutes; running then: A door: it opens", failure)

    def test_notices_a_program_that_ends_in_the_middle(self):
        for end in ("import os; os.kill(os.getpid(), 9)", "sys.exit(0)"):
            self.runner.results.clear()
            failure = str(self.run_lanes(self.lane(script(event("testStarted"), then=end)))["doors"].failures[0])
            self.assertIn("running then: A door: it opens", failure)

    def test_takes_a_pattern_that_matches_nothing_for_a_failure(self):
        text = "events.write(" + repr(json.dumps(event("runEnded")) + "\n") + ")"
        self.assertIn("has no test that matches", str(self.run_lanes(self.lane(text))["doors"].failures[0]))

    def test_fails_with_a_command_and_shows_the_end_of_what_it_printed(self):
        lane = command("lint", 1, "sh", "-c", "seq 100; exit 3")
        failure = str(self.run_lanes(lane)["lint"].failures[0])
        self.assertIn("lint ended with 3", failure)
        self.assertIn("\n    100\n", failure)
        self.assertNotIn("\n    50\n", failure)

    def test_runs_nothing_after_a_failure_of_what_is_essential(self):
        ran = self.run_lanes(command("build", 1, "false", essential=True), command("tests", 1, "true"), workers=1)
        self.assertEqual(list(ran), ["build"])

    def test_runs_lanes_beside_each_other(self):
        # Each waits for the other.
        first, second = self.folder / "first", self.folder / "second"
        wait = "mkfifo $0 2>/dev/null; mkfifo $1 2>/dev/null; echo > $0 & cat $1; wait"
        for path in (first, second):
            os.mkfifo(path)
        ran = self.run_lanes(command("one", 0.5, "sh", "-c", wait, str(first), str(second)),
                             command("two", 0.5, "sh", "-c", wait, str(second), str(first)))
        self.assertEqual([failure for result in ran.values() for failure in result.failures], [])

    def test_has_every_suite_in_one_lane_of_loopback(self):
        names = {lane.name for lane in lanes.loopback()}
        self.assertTrue(names.issuperset(lanes.OWN))
        self.assertEqual(len(names), len(lanes.loopback()))


class SummaryTests(unittest.TestCase):
    def test_has_failures_last_and_counts_apart_what_did_not_run(self):
        results = [Result("rooms", 3, 2, passed=10, failures=[Failure("rooms", "A door: it opens", ["3 == 4"])]),
                   Result("boards", 5, 4, passed=7, skipped=1)]
        lines = summary(results, {("PhoneTests", "no radio"): 4}, 9).split("\n")
        self.assertEqual(lines[-1], "13 passed, 1 failed, 5 skipped")
        self.assertEqual(lines[-4:-2], ["✘ A door: it opens", "    3 == 4"])
        self.assertIn("not run: PhoneTests (4 tests): no radio", lines)

    def test_reads_each_test_that_did_not_run_once(self):
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write(
                "PhoneTests\tis let in\tno radio\nPhoneTests\tis let in\tno radio\nPhoneTests\tis seen\tno radio\n"
            )
            file.flush()
            self.assertEqual(not_run(file.name), {("PhoneTests", "no radio"): 2})
        self.assertEqual(not_run("/nonexistent"), {})


if __name__ == "__main__":
    unittest.main()
