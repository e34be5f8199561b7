"""Tests of the words that documents should not use. Run: python3 -m unittest discover -s Tests/Runner"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "deploy/testing"))

import words  # noqa: E402


class WordTests(unittest.TestCase):
    def test_finds_a_word_in_any_case_with_its_line(self):
        self.assertEqual(list(words.found("One.\nNobody is asked.\n")), [(2, "nobody")])

    def test_finds_words_on_two_lines_of_prose_and_of_a_comment(self):
        self.assertEqual(list(words.found("It waits in\nvain.\n")), [(1, "in vain")])
        self.assertEqual(list(words.found("# a list, of\n#   which one is used\n")), [(1, "of which")])

    def test_passes_over_code(self):
        self.assertEqual(list(words.found("`proximity.nobody-to-ask`\n```swift\n// nobody\n```\n")), [])

    def test_passes_over_parts_of_words_and_words_apart(self):
        self.assertEqual(list(words.found("in vainglory; as it\n\nis; nobody's\n")), [(3, "nobody")])

    def test_looks_at_nothing_of_swift_but_comments_and_literals(self):
        source = (
            '// nobody\nlet nobody = "to \\(nobody), http://a"  // somebody\nfail("nobody-to-ask", "whoever")\n'
            '"""\n    in \\\n    vain\n    """\n/// a list, of\n/// which\nlet whoever = `nobody`\n'
        )
        self.assertEqual(
            list(words.found(words.prose(source))),
            [(1, "nobody"), (2, "somebody"), (3, "whoever"), (5, "in vain"), (8, "of which")],
        )

    def test_looks_at_sources_and_not_at_tests(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("Sources/Room/Some.swift", "Sources/Room/Page/some.js", "Tests/Some.swift"):
                source = Path(folder, name)
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_text("// Nobody asks.\n")
            named = [line.split(" ")[0] for line in words.faults(Path(folder))]
            self.assertEqual(named, ["Sources/Room/Page/some.js:1:", "Sources/Room/Some.swift:1:"])

    def test_names_file_line_word_and_a_better_one(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "docs/a/page.md")
            page.parent.mkdir(parents=True)
            page.write_text("What ails it?\n")
            self.assertEqual(words.faults(Path(folder)), ['docs/a/page.md:1: "what ails": the fault'])


if __name__ == "__main__":
    unittest.main()
