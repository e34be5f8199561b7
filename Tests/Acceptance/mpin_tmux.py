"""Registers two M-Pin users in two windows of tmux and logs them in, as people would.

    mpin_tmux.py LATCHKEY SOCKET FOLDER LAB TOKEN

LAB is the lab's administration, which verifies the users; FOLDER is for the terminal's own files. Exits with 0 when all
is well.
"""
import os
import pathlib
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

PATIENCE = 150  # Seconds, for a machine that does much else.
PINS = {"alice@lab.example": "90417263", "bob@lab.example": "open, please"}
WRONG = "90417264"


class Tmux:
    """A server of its own, without anybody's settings."""

    def __init__(self, folder):
        self.folder = folder

    def do(self, *words):
        done = subprocess.run(["tmux", "-S", self.folder / "tmux", "-f", "/dev/null", *words], check=False,
                              capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            sys.exit(f"tmux {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def __enter__(self):
        self.do("new-session", "-d", "-s", "board", "-x", "200", "-y", "40", "-e", "PS1=$ ", "-e", "NO_COLOR=1", "sh")
        return self

    def __exit__(self, *_):
        self.do("kill-server")


class Window:
    """A shell in a window, with everything that it prints as it comes."""

    def __init__(self, tmux, name):
        (self.tmux, self.target) = (tmux, f"board:{name}")
        (self.printed, self.seen, self.change) = ("", 0, threading.Condition())
        tmux.do("new-window", "-d", "-t", "board:", "-n", name, "sh")
        pipe = tmux.folder / f"{name}.pipe"
        os.mkfifo(pipe)
        threading.Thread(target=self.read, args=(pipe,), daemon=True).start()
        tmux.do("pipe-pane", "-t", self.target, f"exec cat > '{pipe}'")

    def read(self, pipe):
        with open(pipe, "rb", buffering=0) as stream:
            while piece := stream.read(4096):
                with self.change:
                    self.printed += piece.decode(errors="replace")
                    self.change.notify_all()

    def until(self, text):
        """Waits for a text that was not waited for before."""
        with self.change:
            if not self.change.wait_for(lambda: text in self.printed[self.seen:], PATIENCE):
                sys.exit(f"{self.target} does not show {text!r}:\n{self.screen()}")
            self.seen = self.printed.index(text, self.seen) + len(text)

    def type(self, text):
        self.tmux.do("send-keys", "-t", self.target, "-l", text)
        self.tmux.do("send-keys", "-t", self.target, "Enter")

    def start(self, command):
        """Starts a command, at whose end tmux is told its status."""
        self.type(f'{command}; tmux set-option -w -t {self.target} @status "$?"; tmux wait-for -S {self.target}')

    def end(self):
        self.tmux.do("wait-for", self.target)
        status = self.tmux.do("show-options", "-wv", "-t", self.target, "@status").strip()
        if status != "0":
            sys.exit(f"{self.target}: status {status}:\n{self.screen()}")

    def run(self, command):
        self.start(command)
        self.end()

    def screen(self):
        """All that was on it, from the beginning."""
        return self.tmux.do("capture-pane", "-p", "-J", "-S", "-", "-t", self.target)


def verify(lab, token, user):
    request = urllib.request.Request(
        f"{lab}/api/mpin/users/{urllib.parse.quote(user, safe='')}/activate", b"{}",
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE):
        pass


def main(latchkey, socket, folder, lab, token):
    with Tmux(pathlib.Path(folder)) as tmux:
        windows = {user: Window(tmux, user.split("@")[0]) for user in PINS}
        for user, window in windows.items():
            window.run(f"latchkey() {{ '{latchkey}' mpin \"$@\" --socket '{socket}'; }}")
            window.run(f"latchkey user new {user}")
            window.run(f"latchkey register start --user {user}")
            verify(lab, token, user)
            window.run(f"latchkey register confirm --user {user}")
        # Both are asked at once; each answer goes to its own question.
        for user, window in windows.items():
            window.start(f"latchkey register finish --user {user}")
            window.until(f"New PIN of {user}")
        for user, window in reversed(windows.items()):
            window.type(PINS[user])
            window.until("The same PIN again")
            window.type(PINS[user])
            window.end()
        for user, window in windows.items():
            window.start(f"latchkey login --user {user}")
            window.until(f"PIN of {user}")
        windows["bob@lab.example"].type(WRONG)
        windows["bob@lab.example"].until("the PIN is wrong (2 attempts left)")
        for user, window in windows.items():
            window.type(PINS[user])
            window.end()
            screen = window.screen()
            for text in [f"{user} is logged in", "REGISTERED"]:
                if text not in screen:
                    sys.exit(f"{text!r} is missing:\n{screen}")
            for secret in [*PINS.values(), WRONG]:
                if secret in screen or secret in window.printed:
                    sys.exit(f"a PIN is on the screen of {user}")


main(*sys.argv[1:])
