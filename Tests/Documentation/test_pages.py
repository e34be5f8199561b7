"""The pages against the programs, and the checks of the pages against pages with faults. See deploy/docs.

    LATCHKEY_PROGRAMS=.build/debug python3 -B -m unittest discover -s Tests/Documentation
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import commands  # noqa: E402
import links  # noqa: E402
import make  # noqa: E402
import pages  # noqa: E402
import reference_settings  # noqa: E402
import tour  # noqa: E402

FACTS = make.Facts(pathlib.Path(os.environ["LATCHKEY_PROGRAMS"]))
TEXTS = make.read()


# A suite, and the titles of its tests after it.
PROOF = re.compile(r'`(\w+Tests)`((?:,? "[^"]+")*)')


class TheThreatModel(unittest.TestCase):
    def test_names_tests_that_are_there(self):
        text = (ROOT / "Sources/Vault/README.md").read_text()
        named = 0
        for suite, titles in PROOF.findall(text):
            files = [*(ROOT / "Tests").glob(f"*/{suite}.swift"), *(ROOT / "Tests").glob(f"*/{suite}+*.swift")]
            self.assertNotEqual(files, [], suite)
            for title in re.findall(r'"([^"]+)"', titles):
                named += 1
                self.assertTrue(any(f'"{title}"' in file.read_text() for file in files), f"{suite}: {title}")
        self.assertGreater(named, 20)


class ThePages(unittest.TestCase):
    """What is in the repository."""

    def test_name_only_what_is_there(self):
        wrong, count = make.faults(TEXTS, FACTS)
        self.assertEqual(wrong, [])
        self.assertGreater(count, 150)

    def test_of_the_reference_have_everything(self):
        _, made = make.generated(FACTS)
        every = "\n".join(made.values())

        def names(command, path):
            yield path
            for sub in command.get("subcommands", []):
                if sub.get("shouldDisplay", True) and sub["commandName"] != "help":
                    yield from names(sub, f"{path} {sub['commandName']}")

        for path in names(FACTS.help["command"], "latchkey"):
            self.assertRegex(every, rf"(?m)^#+ {path}$" if path != "latchkey" else "# Commands of latchkey")
        for entry in FACTS.catalogue["entries"]:
            name = re.escape(entry["name"])
            self.assertRegex(every, rf"(?m)^### {name}$" if entry["category"] == "error" else rf"(?m)^\| `{name}` \|")
        for table, keys in reference_settings.names(FACTS.settings).items():
            for key in keys:
                self.assertRegex(made["reference/settings.md"], rf"(?m)^({key} = |### `{key}`$)", f"[{table}] {key}")
        for path, methods in FACTS.openapi["paths"].items():
            for method in set(methods) & {"get", "post", "put", "delete"}:
                self.assertRegex(every.replace("&#123;", "{"), rf"{method.upper()} {re.escape(path)}(?![\w/])")

    def test_of_the_reference_link_to_what_is_there(self):
        _, made = make.generated(FACTS)
        texts = made | {pages.place(path): text for path, text in TEXTS.items()}
        count = 0
        for path, text in made.items():
            for target, anchor in re.findall(r"\]\(([\w./-]+\.md)#?([\w-]*)\)", text):
                file = os.path.normpath(os.path.join(os.path.dirname(path), target))
                self.assertIn(file, texts, path)
                if anchor:
                    self.assertIn(anchor, links.anchors(texts[file]), f"{path}: {target}")
                count += 1
        self.assertGreater(count, 300)


class TheDecisions(unittest.TestCase):
    """Their index, and their length."""

    FOLDER = ROOT / "docs/decisions"

    def test_are_in_the_index_once_under_their_title(self):
        index = (self.FOLDER / "README.md").read_text()
        # The index may add what became of one.
        outcome = r"(?: \((?:withdrawn|replaced by \d{4})\))?"
        entered = re.findall(rf"(?m)^- \[(\d{{4}})\]\((\1-[\w-]+\.md)\): (.+?){outcome}$", index)
        there = sorted(self.FOLDER.glob("[0-9]*.md"))
        self.assertEqual(sorted(name for _, name, _ in entered), [path.name for path in there])
        for _, name, title in entered:
            self.assertEqual((self.FOLDER / name).read_text().splitlines()[0], f"# {title}", name)

    def test_have_at_most_40_lines(self):
        for path in self.FOLDER.glob("[0-9]*.md"):
            self.assertLessEqual(len(path.read_text().splitlines()), 40, path.name)


class TheChecks(unittest.TestCase):
    """What they find on a page with a fault."""

    GOOD = ("# Page\n\n## A part\n\n    latchkey publish door/state open --retain   # a comment\n\n"
            "[part](#a-part) `latchkey status`\n")

    def faults(self, text):
        return make.faults(TEXTS | {"docs/messages.md": text}, FACTS, of=["docs/messages.md"])[0]

    def test_find_nothing_on_a_good_page(self):
        self.assertEqual(self.faults(self.GOOD), [])

    def test_find_faults(self):
        for added, found in [
            ("[gone](gone.md)", "gone.md is not there"),
            ("![a picture that says\nmuch](gone.svg)", "gone.svg is not there"),
            ("[part](#another-part)", "there is no such heading"),
            ("[part](install.md#nowhere)", "there is no such heading"),
            ("`latchkey frobnicate`", "there is no subcommand frobnicate"),
            ("    latchkey inbox frobnicate", "there is no subcommand frobnicate"),
            ("```console\n$ sudo latchkey status --frobnicate\n```", "there is no option --frobnicate"),
            ("    echo x | latchkey login --user alice bob", "it takes 0 arguments, not 1"),
            ("    latchkey publish a \\\n        --frobnicate", "there is no option --frobnicate"),
            ("    latchkey-lab frobnicate", "there is no subcommand frobnicate"),
            ("    latchkey publish 'a", "quotation marks do not match"),
            ("`[outbox] frobnication`", "there is no setting frobnication in [outbox]"),
            ("`vault.no-such-code`", "there is no error, event or setting vault.no-such-code"),
            ("`grants.lacking`", "there is no error, event or setting grants.lacking"),
            ("`vault.slots_kept`", "there is no error, event or setting vault.slots_kept"),
            ("```toml\n[vault]\nslot = \"passphrase\"\nsort = 1\n```", "there is no setting sort in [vault]"),
            ("```toml\n[vaults]\nslot = 1\n```", "there is no table [vaults] in the settings"),
            ("```toml\nslot = 1\n```", "there is no table [slot] in the settings"),
            ("```toml\n[vault]\nslot = passphrase\n```", "the settings cannot be read"),
            ("```toml\n[[inbox]]\nname = \"a\"\n[[inbox]]\nnames = \"b\"\n```", "there is no setting names in [inbox]"),
            (
                "    cat > latchkey.toml <<END\n    [agent]\n    log = \"info\"\n    END",
                "there is no setting log in [agent]",
            ),
            ("    # latchkey.toml\n\n    [[action]]\n    name = \"a\"", "there is no table [action] in the settings"),
        ]:
            with self.subTest(added):
                faults = self.faults(f"{self.GOOD}\n{added}\n")
                self.assertEqual(len(faults), 1, faults)
                self.assertIn(found, faults[0])

    def test_pass_over_what_is_no_link_and_no_command(self):
        self.assertEqual(self.faults(self.GOOD + "\n`[a](gone.md)`\n\n    [a](gone.md)\n\nlatchkey frobnicate\n"), [])

    def test_pass_over_what_is_no_setting_and_no_code(self):
        for added in [
            "    # latchkey.toml\n    [console]\n    enabled = true\n\n    # systemctl edit latchkey.service\n"
            "    [Service]\n    Nice=1",
            "```ini\n[Service]\nNice=1\n```\n\n```toml\n# both\n[vault]\n\n[[hosts]]\nhost = \"a\"\n```",
            "    [agent]\n    log_level = \"info\"\n    END of = it",
            "`grants.missing` `vault.slot` `outbox.limit_bytes` `vault.error` `vault.db` `metrics.md` `door.opened`",
        ]:
            with self.subTest(added):
                self.assertEqual(self.faults(f"{self.GOOD}\n{added}\n"), [])
        board = "# Page\n\n```toml\ntitle = \"A board\"\n[button]\nline = \"X\"\n```\n"
        names = reference_settings.names(FACTS.settings)
        self.assertEqual(list(commands.wrong_settings({"a.md": board}, names, ["a.md"])), [])
        self.assertEqual(len(list(commands.wrong_settings({"a.md": board}, names))), 2)

    def test_find_a_page_outside_the_navigation(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path in pages.all_sources():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).touch()
            self.assertEqual(links.outside_navigation(root), [])
            (root / "docs/new.md").touch()
            (root / "docs/lab.md").unlink()
            (root / "docs/decisions/9999-new.md").touch()
            found = links.outside_navigation(root)
            self.assertEqual([fault.partition(":")[0] for fault in found], ["docs/new.md", "docs/lab.md"])

    def test_find_what_a_page_loads_from_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "a" / "page.html"
            page.parent.mkdir()
            shim = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
            page.write_text(f'{shim}<a href="https://x.example/">x</a><script src=https://x.example/y.js></script>')
            self.assertEqual(len(make.finish(page.parents[1])), 1)
            self.assertIn('<script src="../worker.js">', page.read_text())
            page.write_text(shim)
            self.assertEqual(make.finish(page.parents[1]), [])

    def test_read_commands_as_a_shell_does(self):
        for line, expected in [
            ("latchkey enroll - < url.txt", ["latchkey", "enroll", "-"]),
            ("latchkey inbox add a 'b/#'   # more", ["latchkey", "inbox", "add", "a", "b/#"]),
            ("latchkey token --json | jq .x", ["latchkey", "token", "--json"]),
            ("latchkey-lab enroll > url.txt", ["latchkey-lab", "enroll"]),
        ]:
            self.assertEqual(commands.words(line), expected)


class TheTour(unittest.TestCase):
    """How its output is compared."""

    def test_takes_ports_and_ellipses_for_anything(self):
        self.assertTrue(tour.fits("at …\nport :8443 end", "at 12:00\nport :40101 end\n"))
        self.assertTrue(tour.fits("first\n…\nlast", "first\n1\n2\nlast\n"))
        self.assertFalse(tour.fits("logged in as alice", "logged in as bob\n"))
        self.assertFalse(tour.fits("", "unexpected\n"))

    def test_has_commands_with_their_output(self):
        steps = [step for block in tour.blocks((ROOT / "README.md").read_text()) for step in tour.steps(block)]
        self.assertGreater(len([1 for _, printed in steps if printed]), 10)
        self.assertEqual([1 for server in tour.SERVERS if not any(step[0].startswith(server) for step in steps)], [])


if __name__ == "__main__":
    unittest.main()
