"""Words that documents, comments and texts of programs should not use, and what to write in their place."""

import re

#: Each with a better way to say it. The words may be on two lines.
FLAGGED = {
    "nobody": "name who does not: no user, no program, no one",
    "somebody": "name who: a user, a person, a program",
    "whoever": "name who: the caller, anyone who",
    "in vain": "without success, or say what failed",
    "goes with": "belongs to, requires",
    "of which": "begin with the thing itself: the first present one of a list",
    "as it is": "unchanged, present, or leave it out",
    "what ails": "the fault",
    "is there twice": "is used twice",
    "worth nothing": "expired, no longer valid",
}
#: What is checked: documents whole, Swift in its comments and literals.
CHECKED = (
    ".github/**/*.md",
    "*.md",
    "Boards/*.toml",
    "Config/*.md",
    "Config/*.toml",
    "Sources/**/*.html",
    "Sources/**/*.js",
    "Sources/**/*.swift",
    "Sources/README.md",
    "docs/**/*.md",
)

# Between two words: blanks, the end of a line, and what begins the next line of a comment, a quotation or a list.
BETWEEN = r"(?:[ \t]+|[ \t]*\\?\n[ \t]*(?:[#>|*/]+[ \t]*)?)"
FORBIDDEN = re.compile(
    r"\b(" + "|".join(word.replace(" ", BETWEEN) for word in FLAGGED) + r")\b(?!-| described)", re.IGNORECASE)
# Names of code may have any words, and so may the Swift of a document.
CODE = re.compile(r"^```swift\n.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
# A comment, or a literal: over several lines, or within one.
IN_SWIFT = re.compile(r'//[^\n]*|"""\n.*?"""|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
INTERPOLATION = re.compile(r"\\\([^()\n]*\)")


def blank(text):
    """As many lines, and as long, with nothing on them."""
    return re.sub(r"[^\n]", " ", text)


def prose(source):
    """A Swift source with nothing but its comments and literals, each in its place, without what these interpolate."""
    pieces, end = [], 0
    for match in IN_SWIFT.finditer(source):
        pieces += [blank(source[end:match.start()]), INTERPOLATION.sub(lambda name: blank(name[0]), match[0])]
        end = match.end()
    return "".join(pieces) + blank(source[end:])


def found(text):
    """The flagged words of a text, as (line, word)."""
    text = CODE.sub(lambda code: blank(code[0]), text)
    for match in FORBIDDEN.finditer(text):
        word = re.sub(r"[^a-z]+", " ", match[1].lower())
        yield text.count("\n", 0, match.start()) + 1, word


def matching(root, patterns):
    """The files below a folder that match one of some patterns."""
    return {path for pattern in patterns for path in root.glob(pattern)}


def faults(root):
    """What is wrong with the documents and sources below a folder, each as a line."""
    paths = sorted(matching(root, CHECKED))
    return [
        f'{path.relative_to(root)}:{line}: "{word}": {FLAGGED[word]}'
        for path in paths
        for line, word in found(prose(path.read_text()) if path.suffix == ".swift" else path.read_text())
    ]
