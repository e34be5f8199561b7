"""The page of the settings, from `Config/latchkey.toml`, where each stands with its default and a comment."""
import re

TABLE = re.compile(r"^(# )?\[\[?([a-z_]+)\]\]?$")
KEY = re.compile(r"^([a-z_]+) = (.*)$")


def comment(lines):
    """Comment lines as text; those that are indented in it become code."""
    parts = []
    for line in lines:
        line = line.removeprefix("#").removeprefix(" ")
        is_code = line.startswith("  ")
        if not parts or parts[-1][0] != is_code:
            parts.append((is_code, []))
        parts[-1][1].append(line.removeprefix("  "))
    # Brackets and topics are not Markdown.
    return "\n\n".join(
        "```\n" + "\n".join(part) + "\n```" if is_code else re.sub(r"([<*_\[\]{}|#])", r"\\\1", " ".join(part))
        for is_code, part in parts
    )


def read(toml):
    """Tables with their keys: (name, comment, [(key, default, comment)], whole block of a commented-out table)."""
    tables, pending, lines = [], [], toml.split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        table = TABLE.match(line)
        key = KEY.match(line)
        if table and table[1]:
            # An array of tables, of which there is none by default: an example with every key.
            block = []
            while index < len(lines) and lines[index].startswith("#"):
                block.append(lines[index].removeprefix("# ").removeprefix("#"))
                index += 1
            tables.append((table[2], pending, [], block))
            pending = []
            continue
        if table:
            tables.append((table[2], pending, [], []))
            pending = []
        elif key:
            tables[-1][2].append((key[1], key[2], pending))
            pending = []
        elif line.startswith("#"):
            pending.append(line)
        elif pending and not tables:
            tables.append(("", pending, [], []))
            pending = []
        index += 1
    return tables


def document(toml):
    """The page."""
    parts = ["# Settings"]
    for name, about, keys, block in read(toml):
        if name:
            parts.append(f"## `[{'[' if block else ''}{name}{']' if block else ''}]`")
        if about:
            parts.append(comment(about))
        if block:
            parts.append("```toml\n" + "\n".join(block) + "\n```")
        for key, default, lines in keys:
            parts.append(f"### `{key}`")
            if lines:
                parts.append(comment(lines))
            parts.append(f"```toml\n{key} = {default}\n```")
    parts.append("The file itself: [latchkey.toml](latchkey.toml).")
    return "\n\n".join(parts) + "\n"


def names(toml):
    """Every table with its keys, for the check of what pages name."""
    found = {}
    for name, _, keys, block in read(toml):
        names = {key for key, _, _ in keys} | {match[1] for line in block if (match := KEY.match(line))}
        found.setdefault(name, set()).update(names)
    # The arrays of actions have the keys of inboxes too.
    found.get("actions", set()).update(found.get("inbox", set()))
    return found
