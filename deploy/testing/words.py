"""Words that documents should not use, and what to write in their place."""

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
}
#: What is checked. A pattern of Sources is one line more, once its files have none.
CHECKED = (
    ".github/**/*.md",
    "*.md",
    "Boards/*.toml",
    "Config/*.md",
    "Config/*.toml",
    "Sources/README.md",
    "docs/**/*.md",
)

# Between two words: blanks, the end of a line, and what begins the next line of a comment, a quotation or a list.
BETWEEN = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:[#>|*]+[ \t]*)?)"
FORBIDDEN = re.compile(
    r"\b(" + "|".join(word.replace(" ", BETWEEN) for word in FLAGGED) + r")\b", re.IGNORECASE)
# Names of code may have any words, and so may Swift, which is not a document.
CODE = re.compile(r"^```swift\n.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def found(text):
    """The flagged words of a text, as (line, word)."""
    text = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    for match in FORBIDDEN.finditer(text):
        word = re.sub(BETWEEN, " ", match[1]).lower()
        yield text.count("\n", 0, match.start()) + 1, word


def faults(root):
    """What is wrong with the documents below a folder, each as a line."""
    paths = sorted({path for pattern in CHECKED for path in root.glob(pattern)})
    return [
        f'{path.relative_to(root)}:{line}: "{word}": {FLAGGED[word]}'
        for path in paths
        for line, word in found(path.read_text())
    ]
