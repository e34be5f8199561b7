"""What a lane of tests says of itself, in the events of Swift Testing, and what is said of all lanes."""

import json
from dataclasses import dataclass, field


@dataclass
class Failure:
    # The lane, the suite's title and the test's.
    lane: str
    test: str
    said: list = field(default_factory=list)

    def __str__(self):
        return "\n".join(
            [f"✘ {self.test or self.lane}", *(f"    {line}" for text in self.said for line in text.split("\n"))]
        )


class Events:
    """The tests of a lane as they begin and end, read from a file that grows."""

    def __init__(self, path, lane):
        self.path, self.lane = path, lane
        self.titles, self.running, self.failures = {}, {}, {}
        self.passed = self.skipped = 0
        self.ended = False
        self.rest, self.place = b"", 0

    def read(self):
        """Takes what has been written since. Returns the title of the test that began last, if any did."""
        begun = None
        try:
            with open(self.path, "rb") as file:
                file.seek(self.place)
                text = file.read()
        except FileNotFoundError:
            return None
        self.place += len(text)
        *lines, self.rest = (self.rest + text).split(b"\n")
        for line in lines:
            if line.strip():
                begun = self.take(json.loads(line)) or begun
        return begun

    def take(self, record):
        payload = record["payload"]
        if record["kind"] == "test":
            self.titles[payload["id"]] = payload.get("displayName") or payload["name"]
            return None
        test = payload.get("testID", "")
        is_function = "/" in test
        match payload["kind"]:
            case "testStarted" if is_function:
                self.running[test] = True
                return self.title(test)
            case "testEnded" if is_function:
                self.running.pop(test, None)
                self.passed += test not in self.failures
            case "testSkipped" if is_function:
                self.skipped += 1
            case "issueRecorded" if (
                not payload["issue"].get("isKnown") and payload["issue"].get("severity") != "warning"
            ):
                place = payload["issue"].get("sourceLocation") or {}
                texts = [message["text"] for message in payload["messages"] if message.get("text")]
                where = f" ({place['fileID']}:{place['line']})" if place else ""
                failure = self.failures.setdefault(test, Failure(self.lane, self.title(test)))
                failure.said.append("\n".join(texts)[:4000] + where)
            case "runEnded":
                self.ended = True
        return None

    def title(self, test):
        if not test:
            return ""
        suite = self.titles.get(test.split("/")[0])
        return f"{suite}: {self.titles.get(test, test)}" if suite else self.titles.get(test, test)


@dataclass
class Result:
    """Of a lane."""
    name: str
    seconds: float
    # Of processors.
    work: float
    passed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)


def not_run(path):
    """Tests whose precondition did not hold: their suites, each with the number of its tests and the reason."""
    found = {}
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                suite, title, reason = line.rstrip("\n").split("\t", 2)
                found.setdefault((suite, reason), set()).add(title)
    except FileNotFoundError:
        pass
    return {key: len(titles) for key, titles in found.items()}


def summary(results, missing, seconds):
    """Times of all lanes, then what did not run, then the failures, then the count."""
    lines = ["", "Time of each lane, some of them beside each other, and of processors:"]
    for result in sorted(results, key=lambda result: -result.seconds):
        lines.append(f"{result.seconds:5.0f} s {result.work:5.0f} s  {result.name}")
    lines.append(f"{seconds:5.0f} s {sum(result.work for result in results):5.0f} s  all")
    for (suite, reason), count in missing.items():
        lines.append(f"not run: {suite} ({count} tests): {reason}")
    failures = [failure for result in results for failure in result.failures]
    if failures:
        lines += ["", *map(str, failures)]
    # A test that did not run for want of its precondition ended without an issue.
    absent = sum(missing.values())
    passed = sum(result.passed for result in results) - absent
    skipped = sum(result.skipped for result in results) + absent
    lines += ["", f"{passed} passed, {len(failures)} failed, {skipped} skipped"]
    return "\n".join(lines)
