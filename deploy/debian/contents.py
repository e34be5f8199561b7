"""What is in a package: the files, the control files, and the .deb made of them."""

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import time

from targets import Failure, run, say

# What a Swift package has of others: the file that says in its first comment whose it is, and under which license
# (MIT).
EMBEDDED = {"tomlkit": "Sources/CTOML/Sources/toml.hpp"}
MAINTAINER = "Latchkey developers <latchkey@packages.invalid>"


def compressed(path, content):
    """Writes a file as gzip does with -9n: without a name and a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(content)
    path.chmod(0o644)


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def check_hardening(program):
    """Fails unless the loader binds everything before the start, has it read-only from then on, and looks for libraries
    nowhere else."""
    dynamic, segments = run("readelf", "-dW", program), run("readelf", "-lW", program)
    for fault, found in (("RPATH or RUNPATH", re.search(r"\((RPATH|RUNPATH)\)", dynamic)),
                         ("lazy binding", not re.search(r"BIND_NOW|Flags: .*\bNOW\b", dynamic)),
                         ("no GNU_RELRO", "GNU_RELRO" not in segments),
                         ("a segment that can be written and run", re.search(r"LOAD.* RWE ", segments)),
                         ("a fixed address", "DYN (" not in run("readelf", "-hW", program))):
        if found:
            raise Failure(f"{program} has {fault}")


class Package:
    """One package of a target: filled, then built."""

    def __init__(self, name, target, work):
        self.name, self.target = name, target
        self.folder = work / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.tree = self.folder / "tree"
        self.tree.mkdir(parents=True)
        self.tree.chmod(0o755)
        self.programs = []
        # As the commit has them, whatever this script is of.
        self.parts = target.source / "deploy/debian"

    def put_program(self, program, path):
        """Strips a program and puts it at a path."""
        placed = self.tree / path
        placed.parent.mkdir(parents=True, exist_ok=True)
        run(self.target.tool("strip"), "--strip-unneeded", "-R", ".comment", "-R", ".note", "-o", placed, program)
        placed.chmod(0o755 if os.access(program, os.X_OK) and not path.endswith(".so") else 0o644)
        if self.target.configuration == "release":
            check_hardening(placed)
        self.programs.append(placed)

    def put_agent(self, program):
        """What deploy/install puts on a board, and what a package has beyond that."""
        stripped = self.folder / "latchkey"
        run(self.target.tool("strip"), "--strip-unneeded", "-R", ".comment", "-R", ".note", "-o", stripped, program)
        runner = self.folder / "runner"
        write(
            runner,
            "#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in self.target.runner(stripped)) + ' "$@"\n',
            0o755,
        )
        run(self.target.source / "deploy/install", "--program", stripped, "--runner", runner,
            env={**os.environ, "DESTDIR": str(self.tree), "SOURCE_DATE_EPOCH": str(self.target.epoch)})
        # The package's script enables units, as an administrator may disable them.
        shutil.rmtree(self.tree / "etc/systemd")
        placed = self.tree / "usr/bin/latchkey"
        if self.target.configuration == "release":
            check_hardening(placed)
        self.programs.append(placed)
        # Debian names the license in the file copyright.
        (self.tree / "usr/share/doc/latchkey/LICENSE").unlink()

    def put_lab(self, program, plugin):
        """The plugin of the broker is beside the program, and nowhere else."""
        self.put_program(program, "usr/lib/latchkey-lab/latchkey-lab")
        self.put_program(plugin, "usr/lib/latchkey-lab/liblatchkey-lab-broker.so")
        (self.tree / "usr/bin").mkdir(parents=True)
        (self.tree / "usr/bin/latchkey-lab").symlink_to("../lib/latchkey-lab/latchkey-lab")
        runner = self.target.runner(self.programs[0])
        for shell, path in (
            ("bash", "bash-completion/completions/latchkey-lab"),
            ("zsh", "zsh/vendor-completions/_latchkey-lab"),
            ("fish", "fish/vendor_completions.d/latchkey-lab.fish"),
        ):
            # A file that is read, not run, names no interpreter.
            write(
                self.tree / "usr/share" / path,
                run(*runner, "--generate-completion-script", shell).removeprefix("#!/bin/bash\n"),
            )
        dump = subprocess.run(
            [*map(str, runner), "--experimental-dump-help"], stdout=subprocess.PIPE, check=True
        ).stdout
        page = subprocess.run(["python3", "-B", self.parts / "manual.py", self.target.release,
                               time.strftime("%F", time.gmtime(self.target.epoch))], input=dump, stdout=subprocess.PIPE,
                              check=True).stdout
        compressed(self.tree / "usr/share/man/man1/latchkey-lab.1.gz", page)

    def put_documents(self, pins, checkouts):
        documents = self.tree / "usr/share/doc" / self.name
        when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(self.target.epoch))
        compressed(documents / "changelog.gz", (
            f"{self.name} ({self.target.version}) unstable; urgency=medium\n\n"
            f"  * Built from commit {self.target.commit}.\n"
            f"    What changed is in CHANGELOG.md of the source.\n\n"
            f" -- {MAINTAINER}  {when}\n").encode())
        write(documents / "copyright", copyright_text(pins, checkouts))
        overrides = self.parts / f"{self.name}.lintian-overrides"
        if overrides.exists():
            write(self.tree / "usr/share/lintian/overrides" / self.name, overrides.read_text())

    def linked(self, late):
        """The packages that have the libraries, as Depends names them: those that are linked, and those loaded when
        needed."""
        state = self.folder / "shlibs"
        write(state / "debian/control", f"Source: {self.name}\n\nPackage: {self.name}\nArchitecture: any\n")
        field = run(
            "dpkg-shlibdeps",
            *self.target.shlibdeps(),
            "-O",
            *(f"-e{program}" for program in self.programs),
            cwd=state,
            env={**os.environ, "DEB_HOST_ARCH": self.target.architecture},
        )
        found = field.strip().removeprefix("shlibs:Depends=").split(", ")
        there = {entry.split()[0] for entry in found}
        found += [package for package in sorted(map(self.target.owner, late)) if package not in there]
        return sorted(found)

    def build(self, out, depends):
        """Makes the .deb and returns its path."""
        control = self.tree / "DEBIAN"
        files = sorted(path for path in self.tree.rglob("*") if path.is_file() and not path.is_symlink())
        size = sum((path.stat().st_size + 1023) // 1024 for path in files) + len(
            [p for p in self.tree.rglob("*") if p.is_dir()]
        )
        sums = "".join(
            f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(self.tree)}\n" for path in files
        )
        write(control / "control",
              f"Package: {self.name}\nVersion: {self.target.version}\nArchitecture: {self.target.architecture}\n"
              f"Maintainer: {MAINTAINER}\nInstalled-Size: {size}\nDepends: {depends}\n"
              + (self.parts / f"{self.name}.control").read_text())
        write(control / "md5sums", sums)
        kept = [path for path in files if path.relative_to(self.tree).parts[0] == "etc"]
        if kept:
            write(control / "conffiles", "".join(f"/{path.relative_to(self.tree)}\n" for path in kept))
        for script in ("postinst", "prerm", "postrm"):
            if (self.parts / f"{self.name}.{script}").exists():
                write(control / script, (self.parts / f"{self.name}.{script}").read_text(), 0o755)
        made = out / f"{self.name}_{self.target.version}_{self.target.architecture}.deb"
        # One thread: how many there are decides what xz writes. What is only checked need not be small.
        packing = ["-Zxz"] if self.target.configuration == "release" else ["-Zgzip", "-z1"]
        run("dpkg-deb", "--root-owner-group", "--threads-max=1", *packing, "--build", self.tree, made,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(self.target.epoch)})
        return made

    def libraries(self, linked):
        """(name, version) of the packages that have the libraries, as they are where the program was linked."""
        names = {entry.split()[0] for entry in linked}
        return [(name, version) for name in sorted(names) if (version := self.target.version_of(name))]


def copyright_text(pins, checkouts):
    """Who holds which rights: the project's, and those of the Swift packages in its programs."""
    text = ("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
            "Upstream-Name: Latchkey\n\nFiles: *\nCopyright: The Latchkey authors\nLicense: Apache-2.0\n")
    others = {}
    parts = embedded_parts(pins, checkouts)
    for name in ["swift", *(pin["identity"] for pin in pins)]:
        folder = checkout(name, checkouts)
        read = {kind: next((path.read_text() for path in sorted(folder.glob(f"{kind}*"))), "") if folder else ""
                for kind in ("LICENSE", "NOTICE")}
        kind = "Apache-2.0" if not read["LICENSE"] or "Apache License" in read["LICENSE"] else f"other-{name}"
        holders = re.findall(
            r"^\s*Copyright (?:\(c\) |©)?(.*)$", read["LICENSE"] if kind != "Apache-2.0" else "", re.M | re.I
        )
        text += (f"\nFiles: {name}/*\nCopyright: {'; '.join(holders) or f'the authors of {name}'}\nLicense: {kind}\n"
                 f"Comment: Part of the program.\n")
        notice = read["NOTICE"].strip()
        if notice:
            text += indented(notice)
        if kind != "Apache-2.0":
            others[kind] = read["LICENSE"]
        if part := parts.get(name):
            text += (f"\nFiles: {name}/{EMBEDDED[name]}\nCopyright: {part['holder']}\nLicense: other-{part['name']}\n"
                     f"Comment: Part of {name}, version {part['version']}.\n")
            others[f"other-{part['name']}"] = part["license"]
    text += (
        "\nFiles: libstdc++/*\nCopyright: the Free Software Foundation, Inc.\n"
        "License: GPL-3+ with GCC Runtime Library Exception\n"
        "Comment: Part of the program, as far as it uses it.\n"
        "\nLicense: GPL-3+ with GCC Runtime Library Exception\n"
        " Version 3 or later of the GNU General Public License, which on Debian is in\n"
        " /usr/share/common-licenses/GPL-3. The GCC Runtime Library Exception, version 3.1, lets a program that is "
        "compiled with an\n"
        " eligible compilation process have it inside under terms of its own.\n"
    )
    text += (
        "\nLicense: Apache-2.0\n"
        " Licensed under the Apache License, Version 2.0. Swift and its packages have the Runtime\n"
        " Library Exception besides.\n .\n On Debian, the license is in /usr/share/common-licenses/Apache-2.0.\n"
    )
    for kind, license_text in others.items():
        text += f"\nLicense: {kind}\n{indented(license_text.strip())}"
    return text


def checkout(name, checkouts):
    """The folder of a Swift package; None if it has none, like Swift itself."""
    return next((path for path in checkouts.iterdir() if path.name.lower() == name.lower()), None)


def embedded_parts(pins, checkouts):
    """What Swift packages have of others, by their identity: name, version, holder and license."""
    return {pin["identity"]: embedded(checkout(pin["identity"], checkouts) / EMBEDDED[pin["identity"]])
            for pin in pins if pin["identity"] in EMBEDDED}


def embedded(file):
    """Name, version, holder and license of a file that says them in its first comment."""
    head = re.split(r"^[^/]", file.read_text(), maxsplit=1, flags=re.M)[0]
    lines = [line.removeprefix("//").strip() for line in head.splitlines() if not line.startswith("//--")]
    text = "\n".join(lines)
    title, license_text = re.search(r"^(\S+) v(\S+)$", text, re.M), re.search(r"^MIT License$.*", text, re.M | re.S)
    holder = re.search(r"^Copyright \(c\) (.*)$", text, re.M)
    if not (title and license_text and holder):
        raise Failure(f"{file} does not begin with its version and license")
    return {
        "name": title[1].replace("+", "plus"),
        "version": title[2],
        "holder": holder[1],
        "license": license_text[0].strip(),
    }


def indented(text):
    return "".join(f" {line.rstrip()}\n" if line.strip() else " .\n" for line in text.split("\n"))


def check_with_lintian(packages):
    """Fails on every error and warning of lintian, as whoever has a package sees them: nothing is suppressed here."""
    made = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", *map(str, packages)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode:
        raise Failure(f"lintian:\n{made.stdout.strip()}")
    say("lintian finds nothing")
