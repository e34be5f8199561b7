"""What is packaged: the source at a commit, or as it is in the work tree."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from targets import Failure, run

# The versions of all Swift packages, those that Package.swift gives no version included.
LOCK = "deploy/debian/versions.json"
REPOSITORY = Path(__file__).resolve().parent.parent.parent
# Libraries that only boards with a TPM need: latchkey.control suggests their packages.
SUGGESTED = {"libtss2-esys.so.0", "libtss2-mu.so.0", "libtss2-tctildr.so.0"}


class Source:
    """A copy of the repository that is built: of a commit, or of the work tree."""

    def __init__(self, folder):
        self.folder = folder

    def take_commit(self, name):
        self.commit = run("git", "-C", REPOSITORY, "rev-parse", "--verify", f"{name}^{{commit}}").strip()
        if not (self.folder / ".git").exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            run("git", "clone", "--quiet", "--no-checkout", REPOSITORY, self.folder)
        run("git", "-C", self.folder, "fetch", "--quiet", REPOSITORY, self.commit)
        run("git", "-C", self.folder, "checkout", "--quiet", "--force", "--detach", self.commit)
        run("git", "-C", self.folder, "clean", "-dfq")
        self._describe()

    def take_work_tree(self):
        self.commit = run("git", "-C", REPOSITORY, "rev-parse", "HEAD").strip()
        for old in self.folder.glob("*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        self.folder.mkdir(parents=True, exist_ok=True)
        names = subprocess.run(
            ["git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            stdout=subprocess.PIPE,
            check=True,
        ).stdout.split(b"\0")
        there = b"\0".join(
            name for name in names if name and os.path.lexists(os.path.join(os.fsencode(REPOSITORY), name))
        )
        packed = subprocess.run(
            ["tar", "-c", "-C", REPOSITORY, "--null", "-T", "-"], input=there, stdout=subprocess.PIPE, check=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", self.folder], input=packed, check=True)
        self._describe()

    def _describe(self):
        self.epoch = int(run("git", "-C", REPOSITORY, "show", "-s", "--format=%ct", self.commit))
        text = (self.folder / "Sources/Groundwork/Machine/Release.swift").read_text()
        self.release = text.split('version = "', 1)[1].split('"', 1)[0]
        tags = run("git", "-C", REPOSITORY, "tag", "--points-at", self.commit).splitlines()
        is_release = {self.release, f"v{self.release}"} & set(tags)
        self.version = self.release if is_release else f"{self.release}+git{self._place_in_history()}.{self.commit[:7]}"
        # Whatever a build before has left there.
        (self.folder / "Package.resolved").unlink(missing_ok=True)
        self.options = run(self.folder / "deploy/build", "--options").split()

    def _place_in_history(self):
        """Orders the commits after a release: by their time, and within a second by how many commits lead there."""
        if run("git", "-C", REPOSITORY, "rev-parse", "--is-shallow-repository").strip() == "true":
            raise Failure(
                "this clone has not all commits, and their number is part of the version: git fetch --unshallow", 69
            )
        count = run("git", "-C", REPOSITORY, "rev-list", "--count", self.commit).strip()
        return f"{time.strftime('%Y%m%d.%H%M%S', time.gmtime(self.epoch))}.{count}"

    def pins(self):
        """The Swift packages that the build took."""
        return json.loads((self.folder / "Package.resolved").read_text())["pins"]

    def other_versions(self):
        """Where SwiftPM took another version than the commit names: the package, that version, and the one that is
        named."""
        if not (self.folder / LOCK).exists():
            return []
        named = json.loads((self.folder / LOCK).read_text())
        taken = {pin["identity"]: pin["state"].get("version") for pin in self.pins()}
        return [
            (name, version, named.get(name)) for name, version in sorted(taken.items()) if named.get(name) != version
        ]

    def take_versions(self, target, log):
        """Has SwiftPM take the versions that the commit names: newer ones may have come out since."""
        target.resolve(log)
        for name, _, version in self.other_versions():
            if version:
                target.resolve(log, name, "--version", version)

    def check_pins(self):
        """Fails if the build took other versions than those that the commit names."""
        if others := self.other_versions():
            raise Failure(
                f"the build took {', '.join(f'{name} {version}' for name, version, _ in others)}, which {LOCK} does "
                "not name: write them there if they are meant"
            )

    def late_libraries(self):
        """The libraries that every agent loads when it needs them: those that its headers name, but not those that only
        some boards need."""
        names = set()
        for header in self.folder.glob("Sources/C*/shim.h"):
            for line in header.read_text().splitlines():
                if line.startswith("LATCHKEY_LATE_LIBRARY("):
                    names.add(line.split('"')[1])
        return names - SUGGESTED
