"""The pages of the commands, from `latchkey --experimental-dump-help`."""

# What every command of a group would repeat.
COMMON = {"help", "version"}


def subcommands(command):
    """The subcommands that help lists."""
    return [
        sub for sub in command.get("subcommands", []) if sub.get("shouldDisplay", True) and sub["commandName"] != "help"
    ]


def spelled(name):
    """An option as it is written: `--topic`, `-d`."""
    return ("-" if name["kind"] in ("short", "longWithSingleDash") else "--") + name["name"]


def shown(command):
    """Arguments that help lists."""
    return [argument for argument in command.get("arguments", [])
            if argument.get("shouldDisplay", True) and argument["valueName"] not in COMMON]


def cell(text):
    """Text in a table; brackets would be HTML."""
    text = (text or "").replace("\n", " ").replace("|", "\\|")
    return text.replace("<", "&lt;").replace(">", "&gt;")


def term(argument):
    """An argument as a table shows it."""
    if argument["kind"] == "positional":
        return f"`<{argument['valueName']}>`"
    value = "" if argument["kind"] == "flag" else f" <{argument['valueName']}>"
    names = sorted(map(spelled, argument["names"]), key=len)
    return ", ".join(f"`{name}{value if name == names[-1] else ''}`" for name in names)


def usage(path, command):
    """The line that says how a command is called."""
    words = [path]
    if any(argument["kind"] != "positional" for argument in shown(command)):
        words.append("[options]")
    for argument in shown(command):
        if argument["kind"] == "positional":
            word = f"<{argument['valueName']}>{' …' if argument['isRepeating'] else ''}"
            words.append(f"[{word}]" if argument["isOptional"] else word)
    if subcommands(command):
        words.append("<subcommand>")
    return " ".join(words)


def explained(argument):
    """What an argument is, with its default and its values."""
    text = cell(argument.get("abstract"))
    values = argument.get("allValues")
    if values and not all(value in text for value in values):
        text += f" One of {', '.join(f'`{value}`' for value in values)}."
    if argument.get("defaultValue"):
        text += f" Default: `{argument['defaultValue']}`."
    return text.strip()


def discussion(command):
    """The longer description; indented lines become blocks of code, as help shows them."""
    lines = []
    for line in (command.get("discussion") or "").split("\n"):
        lines.append("  " + line if line.startswith("  ") else line)
    return "\n".join(lines)


def section(command, path, level, output):
    """A command with its arguments and what `output` says of it, then its subcommands."""
    parts = [
        f"{'#' * level} {path}",
        cell(command.get("abstract")),
        f"```\n{usage(path, command)}\n```",
        discussion(command),
    ]
    if shown(command):
        rows = [f"| {term(argument)} | {explained(argument)} |" for argument in shown(command)]
        parts.append("\n".join(["| argument | meaning |", "| --- | --- |", *rows]))
    parts.append(output(path))
    for sub in subcommands(command):
        parts.append(section(sub, f"{path} {sub['commandName']}", min(level + 1, 4), output))
    return "\n\n".join(part for part in parts if part)


def documents(help_, program, output):
    """The pages, by name: an index, and a page for each command of the program. `output` says what a command prints."""
    root = help_["command"]
    rows = []

    def listed(command, path, page):
        words = path.split()
        anchor = "" if len(words) == 2 else "#" + "-".join(words)
        rows.append(f"| [`{path}`]({page}{anchor}) | {cell(command.get('abstract'))} |")
        for sub in subcommands(command):
            listed(sub, f"{path} {sub['commandName']}", page)

    found = {}
    for command in subcommands(root):
        name = command["commandName"]
        found[f"{name}.md"] = section(command, f"{program} {name}", 1, output) + "\n"
        listed(command, f"{program} {name}", f"{name}.md")
    found["index.md"] = "\n".join(
        [
            f"# Commands of {program}",
            "",
            cell(root.get("abstract")),
            "",
            f"`{program} help COMMAND` and `--help` print the same. "
            "Exit statuses: [Troubleshooting](../../troubleshooting.md#exit-statuses).",
            "",
            "| command | what it does |",
            "| --- | --- |",
            *rows,
            "",
        ]
    )
    return found
