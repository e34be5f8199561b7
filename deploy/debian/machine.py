"""A virtual machine for arm64 with Debian 13 and systemd, emulated by QEMU without the help of a processor (TCG).

Its disk is made once of Debian's packages, with the kernel that Debian has for such boards; each test starts from it.
The shell of root is on a port of the machine, and this machine's loopback is 10.0.2.2 there.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from targets import KEYRING, Failure, locked, run

# Runs a shell on the port when the machine has booted.
SHELL = """[Unit]
Requires=dev-virtio\\x2dports-shell.device
After=dev-virtio\\x2dports-shell.device multi-user.target
[Service]
ExecStart=/bin/sh -c 'exec 3<>/dev/virtio-ports/shell; exec sh <&3 >&3 2>&1'
WorkingDirectory=/root
[Install]
WantedBy=multi-user.target
"""
NETWORK = "[Match]\nName=en*\n[Network]\nDHCP=yes\nLinkLocalAddressing=no\n"
# What starts the machine: the disk and its file system.
MODULES = "virtio_pci\nvirtio_blk\next4\n"


FILES = {
    "etc/initramfs-tools/conf.d/machine": "MODULES=list\nCOMPRESS=gzip\n",
    "etc/initramfs-tools/modules": MODULES,
    "etc/hostname": "board\n",
    "etc/hosts": "127.0.0.1 localhost board\n10.0.2.2 lab.test\n",
    "etc/fstab": "/dev/vda / ext4 errors=remount-ro 0 1\n",
    "etc/systemd/system/shell.service": SHELL,
    "etc/systemd/network/all.network": NETWORK,
}
PACKAGES = ["systemd-sysv", "udev", "dbus", "iproute2", "initramfs-tools", "linux-image-arm64"]


def make_disk(folder, archive, libraries, say):
    """Makes the machine's disk, kernel and first file system in a folder, unless those there are made of the same."""
    with locked(folder.parent / f"{folder.name}.lock", say):
        _make_disk(folder, archive, libraries, say)


def _make_disk(folder, archive, libraries, say):
    packages = [*PACKAGES, *libraries]
    recipe, complete = json.dumps([FILES, packages]), folder / ".complete"
    if complete.exists() and complete.read_text() == recipe:
        return
    run("rm", "-rf", "--one-file-system", folder)
    folder.mkdir(parents=True)
    root = folder / "root"
    prepared = folder / "prepared"
    for path, text in FILES.items():
        (prepared / path).parent.mkdir(parents=True, exist_ok=True)
        (prepared / path).write_text(text)
    say("making the disk of a machine with Debian 13 for arm64")
    options = [f'--aptopt={name} "{value}"' for name, value in
               (option.split("=") for option in [*archive.options, "APT::Install-Recommends=false"])]
    run(
        "mmdebstrap",
        "--quiet",
        "--mode=root",
        "--variant=apt",
        "--architectures=arm64",
        f"--keyring={KEYRING}",
        *options,
        f"--include={','.join(packages)}",
        f"--essential-hook=cp -r {prepared}/. \"$1/\"",
        '--customize-hook=chroot "$1" systemctl --quiet enable shell.service systemd-networkd.service',
        "trixie",
        root,
        archive.main,
    )
    for name in ("vmlinuz", "initrd.img"):
        shutil.copy(next((root / "boot").glob(f"{name}-*")), folder / name)
    run("mke2fs", "-q", "-t", "ext4", "-d", root, folder / "disk.img", "3G")
    run("rm", "-rf", "--one-file-system", root, prepared)
    complete.write_text(recipe)


class Machine:
    """One machine, with a disk of its own."""

    def __init__(self, folder, work, packages):
        """folder: that of `make_disk`; work: where its own disk and console are kept; packages: a folder, at /packages
        there."""
        self.folder, self.work, self.process, self.port = folder, work, None, None
        run("cp", "--sparse=always", "--reflink=auto", folder / "disk.img", work / "disk.img")
        run("mke2fs", "-q", "-t", "ext4", "-d", packages, work / "packages.img", "256M")

    def boot(self, limit=900):
        """Starts it, and waits for its shell; returns the seconds that took."""
        begun = time.monotonic()
        path = self.work / "shell"
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(1)
        listener.settimeout(60)
        self.process = subprocess.Popen(
            [
                "qemu-system-aarch64",
                "-M",
                "virt",
                "-cpu",
                "cortex-a72",
                "-accel",
                "tcg,thread=multi",
                "-smp",
                "2",
                "-m",
                "1024",
                "-display",
                "none",
                "-monitor",
                "none",
                "-no-reboot",
                "-serial",
                f"file:{self.work}/console",
                "-kernel",
                self.folder / "vmlinuz",
                "-initrd",
                self.folder / "initrd.img",
                # On a busy machine devices come minutes after systemd has asked for them.
                "-append",
                "root=/dev/vda rw console=ttyAMA0 quiet panic=-1 "
                "systemd.default_device_timeout_sec=900 systemd.default_timeout_start_sec=900",
                "-drive",
                f"if=none,id=root,file={self.work}/disk.img,format=raw,cache=writeback",
                "-device",
                "virtio-blk-pci,drive=root",
                "-drive",
                f"if=none,id=packages,file={self.work}/packages.img,format=raw,readonly=on",
                "-device",
                "virtio-blk-pci,drive=packages",
                "-netdev",
                "user,id=net",
                "-device",
                "virtio-net-pci,netdev=net,romfile=",
                "-device",
                "virtio-serial-pci",
                "-chardev",
                f"socket,id=shell,path={path}",
                "-device",
                "virtserialport,chardev=shell,name=shell",
                "-device",
                "virtio-rng-pci",
            ],
            stdin=subprocess.DEVNULL,
        )
        try:
            self.port, _ = listener.accept()
        except TimeoutError:
            raise Failure("the virtual machine does not start") from None
        listener.close()
        self.said = b""
        self.run("mkdir -p /packages; mount -o ro /dev/vdb /packages", limit)
        return time.monotonic() - begun

    def end(self):
        """Takes its power away: what its kernel had not given to the disk is lost."""
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            if self.port:
                self.port.close()
            self.process = self.port = None

    def run(self, command, limit=300):
        """Runs a command and returns what it prints."""
        mark = os.urandom(8).hex()
        # The shell's own words are not the mark: it is put together there.
        self.port.sendall(f"{{ {command}\n}} </dev/null 2>&1; echo \"{mark[:8]}\"\"{mark[8:]} $?\"\n".encode())
        until = time.monotonic() + limit
        pattern = re.compile(rb"(.*?)" + mark.encode() + rb" (\d+)\n", re.S)
        while not (found := pattern.search(self.said)):
            self._read(until, limit, command)
        self.said = self.said[found.end():]
        text = found[1].decode(errors="replace").strip()
        if found[2] != b"0":
            raise Failure(f"on the machine, {command} ended with {found[2].decode()}:\n{text}")
        return text

    def _read(self, until, limit, command):
        """Reads what the shell prints next."""
        self.port.settimeout(max(until - time.monotonic(), 0.01))
        try:
            more = self.port.recv(65536)
        except TimeoutError:
            raise Failure(f"the machine has not ended in {limit} s: {command}\n{self._last()}") from None
        if not more:
            raise Failure(f"the machine has ended in: {command}\n{self._last()}")
        self.said += more

    def until(self, command, limit=300):
        """Runs a command again and again until it succeeds; returns what it prints then."""
        tries = f"until {{ {command}\n}} >/tmp/tried 2>&1; do sleep 1; done; cat /tmp/tried"
        return self.run(tries, limit)

    def cut(self, command, pattern, count, limit=300):
        """Starts a command and takes the power away once it has printed lines of a pattern so many times; returns the
        groups that were found."""
        self.port.sendall(f"{command} </dev/null 2>&1\n".encode())
        until = time.monotonic() + limit
        while len(found := re.findall(pattern, self.said.decode(errors="replace"))) < count:
            self._read(until, limit, command)
        self.end()
        return found

    def _last(self):
        console = Path(self.work / "console")
        lines = console.read_text(errors="replace").splitlines()[-20:] if console.exists() else []
        return "\n".join([self.said.decode(errors="replace")[-2000:], *lines])
