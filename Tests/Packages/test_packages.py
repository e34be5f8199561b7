"""Tests of what deploy/package says of packages. Run: python3 -m unittest discover -s Tests/Packages"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "deploy/debian"))

import contents  # noqa: E402
import manual  # noqa: E402
import sbom  # noqa: E402
import source  # noqa: E402
from building import PLACE, in_place, linked_packages  # noqa: E402
from same import difference  # noqa: E402
from source import LOCK, REPOSITORY, Source  # noqa: E402
from targets import Archive, Failure, locked  # noqa: E402


class SameTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def package(self, name, edit=lambda tree: None, epoch=1_700_000_000, packing="-Zxz"):
        """Makes a small package, of a tree that `edit` may change."""
        tree = self.folder / name
        for path, text in (
            (
                "DEBIAN/control",
                "Package: small\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.invalid>\nDescription: small\n",
            ),
            ("usr/bin/small", "#!/bin/sh\nexit 0\n"),
            ("usr/share/small", "text\n"),
        ):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
            (tree / path).chmod(0o644)
        edit(tree)
        subprocess.run(["chmod", "-R", "go=rX,u+w", tree], check=True)
        made = self.folder / f"{name}.deb"
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", packing, "-b", tree, made],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
        )
        return made

    def test_packages_of_the_same_files_are_the_same(self):
        self.assertIsNone(difference(self.package("one"), self.package("other")))

    def test_names_the_file_that_differs_and_the_byte(self):
        def edit(tree):
            (tree / "usr/bin/small").write_text("#!/bin/sh\nexit 1\n")
        self.assertEqual(difference(self.package("one"), self.package("other", edit)),
                         "data.tar.xz: ./usr/bin/small: 1 of 17 bytes differ, from 15 on")

    def test_names_the_control_file_that_differs(self):
        def edit(tree):
            control = tree / "DEBIAN/control"
            control.write_text(control.read_text().replace("Version: 1", "Version: 10"))
        self.assertIn("control.tar.xz: ./control: ", difference(self.package("one"), self.package("other", edit)))

    def test_names_the_section_of_a_program(self):
        program = Path(shutil.which("true")).read_bytes()
        place = program.index(b"GNU coreutils")

        def put(content):
            return lambda tree: (tree / "usr/bin/small").write_bytes(content)
        said = difference(self.package("one", put(program)),
                          self.package("other", put(program[:place] + b"gnu" + program[place + 3:])))
        self.assertIn(f"3 of {len(program)} bytes differ, from {place} on, in .rodata", said)

    def test_tells_a_file_that_is_missing_a_mode_a_time_and_the_packing(self):
        one = self.package("one")
        self.assertIn("./usr/share/small is in only one of them",
                      difference(one, self.package("less", lambda tree: (tree / "usr/share/small").unlink())))
        self.assertIn("./usr/bin/small: mode 420 and 493",
                      difference(one, self.package("run", lambda tree: (tree / "usr/bin/small").chmod(0o755))))
        # The time of what is packed is at most that of the commit; ar has it itself.
        self.assertIn("1600000000", difference(one, self.package("older", epoch=1_600_000_000)))
        self.assertEqual("control.tar.xz and control.tar.gz", difference(one, self.package("packed", packing="-Zgzip")))

    def test_compares_files_that_are_not_packages(self):
        one, other = self.folder / "one", self.folder / "other"
        one.write_text("{}\n")
        other.write_text("{ }\n")
        self.assertEqual(difference(one, other), "3 and 4 bytes, from 1 on")


class BillTests(unittest.TestCase):
    def test_says_what_is_linked_and_what_is_only_called(self):
        package = {
            "name": "latchkey",
            "version": "1+git2~deb12",
            "architecture": "amd64",
            "release": "bookworm",
            "sha256": "0" * 64,
        }
        pin = {"identity": "swift-log", "location": "https://example.invalid/swift-log.git",
               "state": {"version": "1.0.0", "revision": "abc"}}
        part = {"name": "part", "version": "3", "holder": "A", "license": ""}
        made = json.loads(
            sbom.document(
                package,
                [pin],
                {"swift-log": part},
                [("libstdc++6", "12.2-1"), ("libc6", "2.36-9+deb12u1")],
                ["systemd"],
                "6.3",
                0,
                [("libstdc++-12-dev", "12.2-1")],
            )
        )
        relations = {
            (one["spdxElementId"], one["relationshipType"], one["relatedSpdxElement"]) for one in made["relationships"]
        }
        root = "SPDXRef-package-latchkey"
        self.assertIn((root, "STATIC_LINK", "SPDXRef-swift-swift-log"), relations)
        self.assertIn(("SPDXRef-swift-swift-log", "CONTAINS", "SPDXRef-part-part"), relations)
        self.assertIn((root, "DYNAMIC_LINK", "SPDXRef-debian-libc6"), relations)
        self.assertIn((root, "STATIC_LINK", "SPDXRef-debian-libstdc--12-dev"), relations)
        self.assertIn(("SPDXRef-debian-systemd", "RUNTIME_DEPENDENCY_OF", root), relations)
        self.assertNotIn((root, "DYNAMIC_LINK", "SPDXRef-debian-systemd"), relations)
        locators = {
            one["name"]: one["externalRefs"][0]["referenceLocator"] for one in made["packages"] if "externalRefs" in one
        }
        self.assertEqual(
            locators["libstdc++6"], "pkg:deb/debian/libstdc%2B%2B6@12.2-1?arch=amd64&distro=debian-bookworm"
        )
        self.assertEqual(locators["systemd"], "pkg:deb/debian/systemd?arch=amd64&distro=debian-bookworm")
        self.assertEqual(
            locators["latchkey"], "pkg:deb/latchkey/latchkey@1%2Bgit2~deb12?arch=amd64&distro=debian-bookworm"
        )


class CopyrightTests(unittest.TestCase):
    def test_names_what_a_swift_package_has_of_others(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "TOMLKit/Sources/CTOML/Sources/toml.hpp"
            file.parent.mkdir(parents=True)
            file.write_text(
                "//----\n//\n// toml++ v3.4.0\n//\n//----\n//\n// MIT License\n"
                "//\n// Copyright (c) A <a@b.invalid>\n//\n"
                "// Free of charge.\n//\n//----\n#ifndef TOML\n// not this\n"
            )
            text = contents.copyright_text([{"identity": "tomlkit"}], Path(folder))
            self.assertIn(
                "Copyright: A <a@b.invalid>\nLicense: other-tomlplusplus\nComment: Part of tomlkit, version 3.4.0.\n",
                text,
            )
            self.assertIn(
                "License: other-tomlplusplus\n MIT License\n .\n Copyright (c) A <a@b.invalid>\n .\n Free of charge.\n",
                text,
            )
            self.assertNotIn("not this", text)
            file.write_text("#pragma once\n")
            with self.assertRaises(Failure):
                contents.copyright_text([{"identity": "tomlkit"}], Path(folder))


class LinkedTests(unittest.TestCase):
    def test_finds_the_swift_packages_that_a_product_is_linked_with(self):
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder) / ".build-a"
            (scratch / "release/small.product").mkdir(parents=True)
            there = f"{scratch}/x86_64-unknown-linux-gnu/release"
            (scratch / "release/small.product/Objects.LinkFileList").write_text(
                f"{there}/Own.build/own.swift.o\n{there}/TOML.build/Sources/a.cpp.o\n{there}/Logging.build/b.swift.o\n")
            (scratch / "release.yaml").write_text(
                "".join(
                    f'  "{name}":\n    tool: shell\n    inputs: ["{source}","{there}/x"]\n'
                    f'    outputs: ["{there}/{target}.build/{name}"]\n'
                    for name, source, target in (
                        ("own.swift.o", f"{folder}/Sources/Own/own.swift", "Own"),
                        ("Sources/a.cpp.o", f"{scratch}/checkouts/TOMLKit/Sources/a.cpp", "TOML"),
                        ("b.swift.o", f"{scratch}/checkouts/swift-log/Sources/Logging/b.swift", "Logging"),
                        ("c.swift.o", f"{scratch}/checkouts/swift-nio/Sources/NIO/c.swift", "NIO"),
                    )
                )
            )
            self.assertEqual(linked_packages(scratch, "release", "small"), {"tomlkit", "swift-log"})


class LateLibraryTests(unittest.TestCase):
    def test_every_board_gets_the_libraries_that_it_needs_and_those_for_a_chip_are_suggested(self):
        late = Source(REPOSITORY).late_libraries()
        self.assertIn("libcurl.so.4", late)
        self.assertEqual([name for name in late if name.startswith("libtss2")], [])
        control = (REPOSITORY / "deploy/debian/latchkey.control").read_text().replace("\n ", " ")
        suggested = re.search(r"^Suggests: (.*)$", control, re.M)[1].split(", ")
        # By their names in Debian 12, and in Debian 13.
        for package in "libtss2-esys-3.0.2-0", "libtss2-tctildr0", "libtss2-tcti-device0":
            self.assertIn(f"{package} | {package}t64", suggested)


class PlaceTests(unittest.TestCase):
    def test_builds_in_one_place_at_the_same_addresses_wherever_the_source_is(self):
        seen = []
        for name in "one", "another-with-a-longer-name":
            with tempfile.TemporaryDirectory(suffix=name) as folder:
                (Path(folder) / "name").write_text(name)
                look = ["sh", "-c", f"cat {PLACE}/name; echo; cat /proc/self/maps; touch {PLACE}/made"]
                made = subprocess.run(in_place(folder, look), text=True, capture_output=True)
                if made.returncode and any(word in made.stderr for word in ("not permitted", "denied")):
                    self.skipTest(made.stderr)
                self.assertEqual((made.returncode, made.stderr), (0, ""))
                found, maps = made.stdout.split("\n", 1)
                self.assertEqual(found, name)
                self.assertTrue((Path(folder) / "made").exists())
                seen.append([line.split()[0] for line in maps.splitlines() if "[stack]" not in line])
        self.assertEqual(*seen)
        self.assertFalse(Path(PLACE, "name").exists())


class VersionTests(unittest.TestCase):
    def test_the_versions_that_are_packaged_are_those_of_the_manifest(self):
        versions = json.loads((REPOSITORY / LOCK).read_text())
        asked = [
            line.split('"')
            for line in (REPOSITORY / "Package.swift").read_text().splitlines()
            if ".package(url:" in line
        ]
        self.assertGreater(len(asked), 5)
        for words in asked:
            identity = words[1].rsplit("/", 1)[1].removesuffix(".git").lower()
            self.assertEqual(versions.get(identity), words[3], words[1])


class RepositoryTests(unittest.TestCase):
    """Versions of commits, in a repository of the test's own."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.repository = self.folder / "repository"
        for path, text in (("Sources/Groundwork/Machine/Release.swift", 'static let version = "1.2.3"\n'),
                           ("deploy/build", "#!/bin/sh\n")):
            (self.repository / path).parent.mkdir(parents=True, exist_ok=True)
            (self.repository / path).write_text(text)
            (self.repository / path).chmod(0o755)
        self.git("init", "--quiet")
        self.git("add", ".")
        self.addCleanup(setattr, source, "REPOSITORY", source.REPOSITORY)
        source.REPOSITORY = self.repository

    def git(self, *arguments, time=1_700_000_000):
        return subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b.invalid", "-C", self.repository, *arguments],
            check=True,
            text=True,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_AUTHOR_DATE": f"{time} +0000",
                "GIT_COMMITTER_DATE": f"{time} +0000",
            },
        ).stdout

    def commit(self, time=1_700_000_000):
        """Makes a commit, and returns the version of its package."""
        self.git("commit", "--quiet", "--allow-empty", "-m", "more", time=time)
        taken = Source(self.folder / "taken")
        taken.take_commit("HEAD")
        return taken.version

    def test_later_commits_are_upgrades_also_within_a_second_and_after_nine(self):
        # Names of commits are in no order: eleven of them in ascending order would be a chance of one in forty million.
        versions = [self.commit() for _ in range(11)] + [self.commit(1_700_000_001)]
        self.assertRegex(versions[1], r"^1\.2\.3\+git20231114\.221320\.2\.[0-9a-f]{7}$")
        for older, newer in zip(versions, versions[1:]):
            self.assertEqual(
                subprocess.run(["dpkg", "--compare-versions", older, "lt", newer]).returncode, 0, f"{older} {newer}"
            )

    def test_a_release_has_no_more_in_its_version(self):
        self.git("commit", "--quiet", "-m", "release")
        self.git("tag", "v1.2.3")
        taken = Source(self.folder / "taken")
        taken.take_commit("HEAD")
        self.assertEqual(taken.version, "1.2.3")

    def test_a_clone_without_all_commits_makes_no_package(self):
        self.commit()
        self.commit()
        shallow = self.folder / "shallow"
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{self.repository}", shallow], check=True)
        source.REPOSITORY = shallow
        with self.assertRaisesRegex(Failure, "git fetch --unshallow"):
            Source(self.folder / "of-shallow").take_commit("HEAD")


class OrderTests(unittest.TestCase):
    def test_an_older_package_that_is_not_older_is_refused_before_any_test(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        made = []
        for version in ("1+git2.9.abc~deb13", "1+git2.10.abc~deb13"):
            (folder / "tree/DEBIAN").mkdir(parents=True, exist_ok=True)
            (folder / "tree/DEBIAN/control").write_text(f"Package: latchkey\nVersion: {version}\nArchitecture: all\n"
                                                        "Maintainer: A <a@b.invalid>\nDescription: small\n")
            made.append(folder / f"latchkey_{version}_all.deb")
            subprocess.run(
                ["dpkg-deb", "--root-owner-group", "-b", folder / "tree", made[-1]],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        script = (REPOSITORY / "deploy/test-packages").read_text()
        # These functions alone: the rest of the script takes root, and makes a root file system.
        functions = re.findall(r"^(?:say|fail|target|check_order|pair)\(\) \{(?:.*\}|\n(?:.*\n)*?\})$", script, re.M)
        self.assertEqual(len(functions), 5)

        def pair(older, newer):
            return subprocess.run(
                [
                    "bash",
                    "-euc",
                    "\n".join([*functions, 'older=("$1") work=$3', 'pair "$3/pair" "$2"']),
                    "bash",
                    older,
                    newer,
                    folder,
                ],
                text=True,
                capture_output=True,
            )
        refused = pair(made[1], made[0])
        self.assertEqual(refused.returncode, 1)
        self.assertIn("apt does not upgrade 1+git2.10.abc~deb13 to 1+git2.9.abc~deb13", refused.stderr)
        taken = pair(made[0], made[1])
        self.assertEqual((taken.returncode, taken.stderr), (0, ""))
        self.assertEqual((folder / "pair/older.deb").read_bytes(), made[0].read_bytes())


class Board:
    """Stands where SwiftPM would: it takes the newest versions, unless it is told another."""

    def __init__(self, source, newest):
        self.source, self.taken = source, dict(newest)

    def resolve(self, log, *arguments):
        if arguments:
            self.taken[arguments[0]] = arguments[2]
        pins = [{"identity": name, "state": {"version": version}} for name, version in self.taken.items()]
        (self.source.folder / "Package.resolved").write_text(json.dumps({"pins": pins}))


class OldCommitTests(unittest.TestCase):
    def setUp(self):
        self.source = Source(Path(tempfile.mkdtemp()))
        self.addCleanup(shutil.rmtree, self.source.folder)
        lock = self.source.folder / LOCK
        lock.parent.mkdir(parents=True)
        lock.write_text(json.dumps({"one": "1.0.0", "two": "2.0.0"}))

    def test_takes_the_versions_that_the_commit_names_after_newer_ones_have_come_out(self):
        board = Board(self.source, {"one": "1.0.0", "two": "2.3.0"})
        self.source.take_versions(board, None)
        self.assertEqual(board.taken, {"one": "1.0.0", "two": "2.0.0"})
        self.source.check_pins()

    def test_refuses_a_swift_package_that_the_commit_does_not_name(self):
        board = Board(self.source, {"one": "1.0.0", "three": "3.0.0"})
        self.source.take_versions(board, None)
        with self.assertRaisesRegex(Failure, "three 3.0.0"):
            self.source.check_pins()


class ProgramTests(unittest.TestCase):
    """Programs of Debian, in whose place others stand."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{self.folder}:{path}"

    def put(self, name, prints):
        (self.folder / name).write_text(f"#!/bin/sh\ncat <<'END'\n{prints}\nEND\n")
        (self.folder / name).chmod(0o755)

    def test_asks_debians_archive_and_no_other_that_apt_knows(self):
        self.put("apt-config", "false")
        self.put("apt-get", "http://archive.raspberrypi.example/debian bookworm Raspberry Pi Foundation\n"
                 "http://third.example/ stable\nhttp://deb.example/security bookworm-security Debian\n"
                 "http://deb.example/debian bookworm-updates Debian\nhttp://deb.example/debian bookworm Debian")
        archive = Archive()
        self.assertEqual((archive.main, archive.security), ("http://deb.example/debian", "http://deb.example/security"))
        self.assertIn("Acquire::Check-Valid-Until=false", archive.options)
        self.put("apt-get", "http://archive.raspberrypi.example/debian bookworm Raspberry Pi Foundation")
        with self.assertRaisesRegex(Failure, "apt-get update"):
            Archive()

    def test_does_not_install_over_a_package_nor_remove_its_files(self):
        self.put("dpkg-query", "installed")
        for arguments in (["--program", shutil.which("true")], ["--uninstall"]):
            made = subprocess.run([REPOSITORY / "deploy/install", *arguments], text=True, capture_output=True)
            self.assertEqual(made.returncode, 73, made.stderr)
            self.assertIn("apt remove latchkey", made.stderr)


class ScriptTests(unittest.TestCase):
    """The script that dpkg runs after it has unpacked the package, or given up to do so, with programs of the test's
    own."""

    PROGRAMS = (
        "deb-systemd-helper",
        "deb-systemd-invoke",
        "systemctl",
        "systemd-sysusers",
        "systemd-tmpfiles",
        "udevadm",
    )

    def calls(self, *arguments, failing=()):
        """What the script calls where systemd runs, a line for each."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for program in self.PROGRAMS:
                (folder / program).write_text(
                    f'#!/bin/sh\necho "{program} $*" >>"{folder}/calls"\ncase "{program} $*" in\n'
                    + "".join(f'*"{words}"*) exit 1 ;;\n' for words in failing) + "esac\n")
                (folder / program).chmod(0o755)
            script = (REPOSITORY / "deploy/debian/latchkey.postinst").read_text()
            self.assertIn("-d /run/systemd/system ", script)
            (folder / "postinst").write_text(script.replace("/run/systemd/system", name))
            made = subprocess.run(["sh", folder / "postinst", *arguments], text=True, capture_output=True,
                                  env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
            self.assertEqual((made.returncode, made.stdout, made.stderr), (0, "", ""))
            return (folder / "calls").read_text().splitlines() if (folder / "calls").exists() else []

    def test_a_removal_that_fails_leaves_the_agent_running(self):
        for arguments in (["abort-remove"], ["abort-remove", "in-favour", "other", "2"], ["abort-upgrade", "2"],
                          ["abort-deconfigure", "in-favour", "other", "2"]):
            calls = self.calls(*arguments)
            for unit in ("latchkey.service", "latchkey-first-boot.socket", "latchkey-actions.socket"):
                self.assertIn(f"deb-systemd-invoke start {unit}", calls, arguments)
            # Connections of an agent that runs on are not cut.
            self.assertFalse([call for call in calls if "restart" in call], arguments)

    def test_installing_starts_the_agent_anew(self):
        self.assertIn("deb-systemd-invoke restart latchkey.service", self.calls("configure", "1"))

    def test_the_socket_of_actions_stays_closed_unless_somebody_has_enabled_it(self):
        calls = self.calls("configure", failing=["is-enabled latchkey-actions.socket"])
        self.assertIn("systemctl --quiet is-enabled latchkey-actions.socket", calls)
        self.assertFalse([call for call in calls if "start latchkey-actions.socket" in call])

    def test_enables_only_units_that_can_be_enabled(self):
        calls = self.calls("configure")
        enabled = {call.split()[-1] for call in calls if call.startswith("deb-systemd-helper enable ")}
        self.assertEqual(enabled, {"latchkey.service", "latchkey-first-boot.socket"})
        for unit in enabled:
            self.assertIn("[Install]", (REPOSITORY / "deploy/systemd" / unit).read_text())
        # What a removal has masked is unmasked.
        script = (REPOSITORY / "deploy/debian/latchkey.postrm").read_text()
        masked = re.search(r"deb-systemd-helper mask ((?:[\w.-]+ )+)", script)[1].split()
        self.assertEqual(
            {call.split()[-1] for call in calls if call.startswith("deb-systemd-helper unmask ")}, set(masked)
        )

    def test_does_nothing_when_it_is_asked_for_something_else(self):
        self.assertEqual(self.calls("triggered", "x"), [])


class SystemFileTests(unittest.TestCase):
    """Units and rules as they are installed."""

    def test_sockets_are_gone_once_their_units_have_stopped(self):
        units = sorted((REPOSITORY / "deploy/systemd").glob("*.socket"))
        self.assertEqual(len(units), 2)
        for unit in units:
            self.assertIn(
                "\nRemoveOnStop=yes\n", unit.read_text().split("[Socket]")[1].split("[Install]")[0], unit.name
            )

    def test_no_shell_reads_the_path_of_a_device(self):
        rules = (REPOSITORY / "deploy/systemd/60-latchkey.rules").read_text()
        called = re.findall(r'RUN\+?="([^"]*)"', rules)
        self.assertEqual([command.split()[0] for command in called], ["/bin/chgrp", "/bin/chmod"])
        for command in called:
            # In quotes, of which such a path has none.
            self.assertEqual(re.sub(r"'/sys%p/(brightness|trigger)'", "", command).count("%"), 0, command)
        for line in rules.splitlines():
            if "RUN" in line:
                self.assertIn("""DEVPATH!="*'*\"""", line)


class LockTests(unittest.TestCase):
    def test_waits_while_another_run_uses_the_folder_and_says_so(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        script = ("import sys\nfrom pathlib import Path\nsys.path.insert(0, sys.argv[1])\nfrom targets import locked\n"
                  "with locked(Path(sys.argv[2]), lambda text: print(text, flush=True)): print('begun', flush=True)\n")
        with locked(folder / "lock", lambda text: self.fail(text)):
            other = subprocess.Popen(
                [sys.executable, "-B", "-c", script, str(REPOSITORY / "deploy/debian"), str(folder / "lock")],
                text=True,
                stdout=subprocess.PIPE,
            )
            self.assertIn(f"another run uses {folder}", other.stdout.readline())
        self.assertEqual(other.communicate(timeout=60)[0], "begun\n")


class ManualTests(unittest.TestCase):
    def test_prints_hyphens_that_can_be_copied_and_does_not_break_options(self):
        command = {"commandName": "small", "abstract": "Does little.", "arguments": [
            {"kind": "option", "names": [{"kind": "long", "name": "redirect-uri"}], "valueName": "url",
             "preferredName": {"kind": "long", "name": "redirect-uri"}, "isOptional": True, "abstract": "Where."}]}
        page = "\n".join(manual.page(command, "1", "2026-01-01"))
        self.assertIn("\\-\\-redirect\\-uri", page)
        self.assertIn("\n.nh\n", page)

    def test_keeps_the_lines_of_a_transcript_also_where_it_comes_first(self):
        transcript = ".PP\n.nf\n.RS 2\n$ small run\nstarted\n$ small end\n\n.RE\n.fi\n.PP\nThen it ends."
        for text in (
            "$ small run\nstarted\n$ small end\n\nThen it ends.",
            "  $ small run\n  started\n  $ small end\n\nThen it ends.",
        ):
            self.assertEqual("\n".join(manual.paragraphs(text)), transcript)


if __name__ == "__main__":
    unittest.main()
