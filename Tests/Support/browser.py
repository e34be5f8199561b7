"""Headless Chromium, driven as WebDriver (W3C) has it, for the tests of pages."""
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

PATIENCE = 150  # Seconds, for a machine that does much else.


def claim_port():
    """A port for the driver alone, and what keeps other tests from it.

    The driver would take any port of IPv4 and then the same one of IPv6, which may be in use. Those here are below the
    ports that the kernel gives out (net.ipv4.ip_local_port_range)."""
    for port in range(31_000, 32_000):
        claim = socket.socket(socket.AF_UNIX)
        try:
            # A name that ends with the process.
            claim.bind(f"\0latchkey-browser-{port}")
            for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                with socket.socket(family) as probe:
                    probe.bind((address, port))
            return port, claim
        except OSError:
            claim.close()
    sys.exit("no port is free")


class Browser:
    def __init__(self, width, insecure=False):
        """`insecure`: also opens pages whose certificate it does not trust."""
        self.port, self.claim = claim_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.PIPE, text=True)
        if not any("started successfully" in line for line in self.driver.stdout):
            sys.exit("chromedriver does not start")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={width},900"]
        options = {"args": arguments}
        if width < 600:
            phone = {"width": width, "height": 844, "pixelRatio": 1, "touch": True}
            options["mobileEmulation"] = {"deviceMetrics": phone}
        self.session = ""
        self.session = "/session/" + self.call("POST", "/session", capabilities={"alwaysMatch": {
            "browserName": "chrome", "acceptInsecureCerts": insecure, "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}})["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            # Whoever started this may have had other signals blocked, and the driver inherited that.
            self.driver.kill()
            self.driver.wait()
            self.claim.close()

    def call(self, method, path, **body):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{self.session}{path}", method=method,
            data=json.dumps(body).encode() if method == "POST" else None, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.read().decode()[:800]}")

    def open(self, url):
        self.call("POST", "/url", url=url)

    def ask(self, expression, *arguments):
        return self.call("POST", "/execute/sync", script="return " + expression, args=list(arguments))

    def tabs(self):
        return self.call("GET", "/window/handles")

    def new_tab(self):
        """Goes to a new tab. Returns the one before."""
        before = self.call("GET", "/window")
        self.show_tab(self.call("POST", "/window/new", type="tab")["handle"])
        return before

    def show_tab(self, tab):
        self.call("POST", "/window", handle=tab)

    def close_tab(self):
        self.call("DELETE", "/window")

    def do(self, statement, *arguments):
        self.call("POST", "/execute/sync", script=statement, args=list(arguments))

    def devtools(self, command, **parameters):
        """A command of the DevTools protocol."""
        return self.call("POST", "/goog/cdp/execute", cmd=command, params=parameters)

    def complaints(self):
        """What the browser found wrong with the page since it was asked last, such as what its policy forbids."""
        log = self.call("POST", "/se/log", type="browser")
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def type(self, text):
        """Types into what has the focus."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", actions=[{"type": "key", "id": "keys", "actions": keys}])

    def press(self, key):
        self.call("POST", "/actions", actions=[{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}])

    def until(self, expression, *arguments):
        end = time.monotonic() + PATIENCE
        while not (value := self.ask(expression, *arguments)):
            if time.monotonic() > end:
                sys.exit(f"never: {expression} {arguments}; the page: " + self.ask("document.body.innerText")[:3000])
            time.sleep(0.05)
        return value


def expect(condition, what):
    if not condition:
        sys.exit(f"not so: {what}")
