"""The brokers: real ones, with their own defaults but for listeners, certificates and where their store is."""

import http.server
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path

from ground import BROKER, BenchError, await_true, free_port


class Broker:
    """One broker, with a port for TLS, which only the proxy knows, and one without it for the observer."""

    name, package, version = "", "", 4

    def __init__(self, ground):
        self.ground = ground
        self.folder = ground.folder / self.name.lower()
        self.store = self.folder / "store"
        self.store.mkdir(parents=True)
        self.port, self.plain_port = free_port(), free_port()
        self.process, self.dropped = None, 0
        self.log = self.folder / "log"
        self.configure()

    def start(self):
        log = self.log.open("ab")
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.variables())
        log.close()
        self.ground.processes.append(self.process)
        await_true(120, f"{self.name} on its ports", self.listens)

    def listens(self):
        if self.process.poll() is not None:
            raise BenchError(f"{self.name} ended: " + self.log.read_text(errors="replace")[-600:])
        for port in self.port, self.plain_port:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)):
                    return False
        return True

    def stop(self, abruptly=False):
        self.process.send_signal(signal.SIGKILL if abruptly else signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.ground.processes.remove(self.process)

    def forget(self):
        """The store of a broker that does not run is gone."""
        subprocess.run(["rm", "-rf", self.store], check=True)
        self.store.mkdir()

    def variables(self):
        return None

    def count_dropped(self):
        return 0


class Mosquitto(Broker):
    """Debian's: `max_inflight_messages` 20, `max_queued_messages` 1000, `autosave_interval` 1800 s, and so on."""

    name, package, version = "Mosquitto", "mosquitto", 5

    def configure(self):
        self.lines = [
            f"listener {self.port} 127.0.0.1", f"cafile {self.ground.folder}/lab/ca.pem",
            f"certfile {self.ground.certificate}", f"keyfile {self.ground.folder}/lab/server.key",
            "require_certificate true", f"listener {self.plain_port} 127.0.0.1", "allow_anonymous true",
            "persistence true", f"persistence_location {self.store}/", "log_dest stderr",
            *(["user root"] if os.getuid() == 0 else []),
        ]
        (self.folder / "mosquitto.conf").write_text("\n".join(self.lines) + "\n")

    def command(self):
        return [BROKER, "-c", self.folder / "mosquitto.conf"]

    def count_dropped(self):
        """How often it said that it drops what waits for a client: once each time that a queue is full."""
        return self.log.read_text(errors="replace").count("messages are being dropped")


class Anybody(http.server.BaseHTTPRequestHandler):
    """Says yes to whatever RabbitMQ asks about users: certificates are what admits clients here."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"allow")

    def log_message(self, *_):
        pass


class RabbitMQ(Broker):
    """With its MQTT plugin, which takes QoS 2 as QoS 1, and a `.` in a topic as `/`."""

    name, package = "RabbitMQ", "rabbitmq-server"
    server = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")

    def configure(self):
        gate = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Anybody)
        gate.daemon_threads = True
        threading.Thread(target=gate.serve_forever, daemon=True).start()
        places = [f"auth_http.{what}_path = http://127.0.0.1:{gate.server_port}/{what}"
                  for what in ("user", "vhost", "resource", "topic")]
        self.lines = [
            "listeners.tcp = none", f"mqtt.listeners.tcp.1 = 127.0.0.1:{self.plain_port}",
            f"mqtt.listeners.ssl.1 = 127.0.0.1:{self.port}",
            f"ssl_options.cacertfile = {self.ground.folder}/lab/ca.pem",
            f"ssl_options.certfile = {self.ground.certificate}",
            f"ssl_options.keyfile = {self.ground.folder}/lab/server.key", "ssl_options.verify = verify_peer",
            "ssl_options.fail_if_no_peer_cert = true", "auth_backends.1 = http", "auth_http.http_method = post",
            *places,
        ]
        (self.folder / "rabbitmq.conf").write_text("\n".join(self.lines) + "\n")
        (self.folder / "enabled_plugins").write_text("[rabbitmq_mqtt,rabbitmq_auth_backend_http].\n")
        (self.folder / "home").mkdir()
        self.ports = {"epmd": free_port(), "distribution": free_port()}
        # Its own port mapper: that of the system stays as it is, and this one ends with the rest.
        self.ground.processes.append(subprocess.Popen(
            ["epmd", "-address", "127.0.0.1", "-port", str(self.ports["epmd"])], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def command(self):
        return [self.server]

    def variables(self):
        return {
            **os.environ, "HOME": str(self.folder / "home"), "RABBITMQ_NODENAME": f"guarantee{self.port}@localhost",
            "RABBITMQ_MNESIA_BASE": str(self.store), "RABBITMQ_LOG_BASE": str(self.folder), "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "enabled_plugins"),
            "RABBITMQ_DIST_PORT": str(self.ports["distribution"]), "ERL_EPMD_PORT": str(self.ports["epmd"]),
            "ERL_EPMD_ADDRESS": "127.0.0.1", "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            # The process that is started is the broker itself, and not a shell that waits for it.
            "RUNNING_UNDER_SYSTEMD": "yes",
        }


BROKERS = {one.name.lower(): one for one in (Mosquitto, RabbitMQ)}
