"""Takes the tour of README.md: runs its commands as they are written, and compares what they print.

    tour.py PROGRAMS            takes the tour with the programs of this folder; exits with 0 when all is as written
    tour.py PROGRAMS --show     prints what each command prints, to write it into the page

A command that runs until it is stopped is started in the background, as in a terminal of its own. In what is printed,
`…` stands for anything, and ports may be others: the lab takes free ones.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTION = "## Five-minute tour"
# Commands that run until they are stopped, and what they print when they are ready.
SERVERS = {"latchkey-lab run": "admin page", "latchkey run": "agent: ready"}
PATIENCE = 150  # Seconds, for a machine that does much else.


def blocks(page):
    """The blocks of code of the tour, without their indentation."""
    text = page.partition(f"\n{SECTION}\n")[2].partition("\n## ")[0]
    found, lines = [], []
    for line in text.split("\n") + ["end"]:
        if line.startswith("    ") or (lines and not line.strip()):
            lines.append(line[4:])
        elif lines:
            found.append("\n".join(lines).rstrip())
            lines = []
    return found


def steps(block):
    """A block as commands with what each prints; without a prompt it is a script that prints nothing of interest."""
    if not block.startswith("$ "):
        return [(block, None)]
    found = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        while command.endswith("\\"):
            more, _, printed = printed.partition("\n")
            command += "\n" + more
        found.append((command, printed.rstrip("\n")))
    return found


def fits(expected, printed):
    """Whether a command printed what the page says."""
    pattern = "".join(
        ".*" if part == "…" else re.escape(part) for part in re.split("(…)", re.sub(r":\d{4,5}\b", ":PORT", expected)))
    return re.fullmatch(pattern, re.sub(r":\d{4,5}\b", ":PORT", printed.rstrip("\n")), re.DOTALL) is not None


class Tour:
    """A clone of the repository as far as the tour needs one, in a home of its own."""

    def __init__(self, programs, folder):
        self.home, self.clone, self.exports, self.servers = folder / "home", folder / "clone", "", []
        built = self.clone / ".build/debug"
        built.mkdir(parents=True)
        self.home.mkdir()
        (self.clone / "Boards").symlink_to(ROOT / "Boards")
        (built / "latchkey").symlink_to(programs / "latchkey")
        lab = built / "latchkey-lab"
        # The lab takes free ports, and says where its admin page is.
        lab.write_text(f"""#!/bin/sh
            if [ "$1" = run ]; then
                shift
                exec '{programs}/latchkey-lab' run --port 0 --admin-port 0 --broker-port 0 "$@"
            fi
            page=$(sed -n 's/^admin page *\\(.*\\)#.*/\\1/p' '{self.home}/latchkey-lab.log')
            exec '{programs}/latchkey-lab' "$@" --admin "$page"
            """)
        lab.chmod(0o755)

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LATCHKEY", "XDG"))}
        return kept | {"HOME": str(self.home), "NO_COLOR": "1", "TMPDIR": str(self.home)}

    def shell(self, script, **options):
        return subprocess.Popen(["bash", "-c", f"{self.exports}\n{script}"], cwd=self.clone, env=self.environment(),
                                **options)

    def run(self, script):
        """The exit status of a command that ends, and what it printed."""
        with self.shell(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            try:
                printed, _ = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise SystemExit(f"{script}: did not end within {PATIENCE} s") from None
        self.exports += "".join(f"{line}\n" for line in script.split("\n") if line.startswith("export "))
        return process.returncode, printed

    def serve(self, command, sign):
        """Starts a server, and waits until it says that it is ready."""
        process = self.shell(f"exec {command}", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.servers.append(process)
        printed = ""
        for line in process.stdout:
            printed += line
            if sign in line:
                break
        else:
            raise SystemExit(f"{command}: {printed}")
        # What it prints later is not needed, but it must not have to wait.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        (self.home / f"{command.split()[0]}.log").write_text(printed)

    def end(self):
        for process in reversed(self.servers):
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def take(programs, page, show=False):
    """Takes the tour. Returns what was not as written."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lk-tour-"))
    tour, wrong, count = Tour(programs, folder), [], 0
    try:
        for command, expected in (step for block in blocks(page) for step in steps(block)):
            sign = next((sign for server, sign in SERVERS.items() if command.startswith(server)), None)
            if sign:
                tour.serve(command, sign)
                continue
            status, printed = tour.run(command)
            count += 1
            if show:
                print(f"$ {command}\n{printed}")
            elif status or (expected is not None and not fits(expected, printed)):
                wrong.append(f"$ {command}\nexit status {status}, printed:\n{printed}\nthe page says:\n{expected}")
    finally:
        tour.end()
        shutil.rmtree(folder)
    if not count:
        wrong.append(f"there is no command below {SECTION}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    wrong = take(options.programs.resolve(), (ROOT / "README.md").read_text(), options.show)
    if wrong:
        sys.exit("\n\n".join(wrong))


if __name__ == "__main__":
    main()
