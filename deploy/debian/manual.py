#!/usr/bin/env python3
"""Writes a program's manual page (man(7)) from its own description of its commands.

    PROGRAM --experimental-dump-help | deploy/debian/manual.py VERSION DATE > PROGRAM.1
"""

import json
import sys


def escaped(text):
    """Text as troff prints it literally."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def paragraphs(text):
    """Prose is filled; what is indented stays as it is, and a transcript, which has lost its indent if it comes
    first."""
    literal = transcript = False
    for line in text.strip("\n").split("\n"):
        transcript = bool(line.strip()) and (transcript or line.startswith("$ "))
        kept = transcript or line.startswith("  ")
        if kept and not literal:
            yield ".PP\n.nf\n.RS 2"
            literal = True
        elif line.strip() and not kept and literal:
            yield ".RE\n.fi\n.PP"
            literal = False
        yield escaped(line.removeprefix("  ") if literal else line) if line.strip() else ("" if literal else ".PP")
    if literal:
        yield ".RE\n.fi"


def spelled(name):
    return {"long": "--", "short": "-", "longWithSingleDash": "-"}[name["kind"]] + name["name"]


def value_of(argument):
    return f" \\fI{escaped(argument.get('valueName', 'value'))}\\fR" if argument["kind"] == "option" else ""


def shown(items):
    return [item for item in items or [] if item.get("shouldDisplay", True)]


def is_help(argument):
    return any(name["name"] == "help" for name in argument.get("names") or [])


def synopsis(path, command):
    words = [f"\\fB{escaped(path)}\\fR"]
    if shown(command.get("subcommands")):
        words.append("\\fIcommand\\fR")
    for argument in shown(command.get("arguments")):
        if is_help(argument):
            continue
        if argument["kind"] == "positional":
            word = f"\\fI{escaped(argument.get('valueName', 'value'))}\\fR"
        else:
            word = f"\\fB{escaped(spelled(argument['preferredName']))}\\fR{value_of(argument)}"
        word += " ..." if argument.get("isRepeating") else ""
        words.append(f"[{word}]" if argument.get("isOptional") else word)
    return " ".join(words)


def arguments(command):
    for argument in shown(command.get("arguments")):
        if is_help(argument):
            continue
        yield ".TP"
        if argument["kind"] == "positional":
            yield f"\\fI{escaped(argument.get('valueName', 'value'))}\\fR"
        else:
            yield ", ".join(f"\\fB{escaped(spelled(name))}\\fR" for name in argument["names"]) + value_of(argument)
        text = argument.get("abstract") or ""
        if values := argument.get("allValues"):
            text += f" One of: {', '.join(values)}."
        if default := argument.get("defaultValue"):
            text += f" Default: {default}."
        yield escaped(text.strip()) or "\\&"
        if more := argument.get("discussion"):
            yield ".IP"
            yield escaped(more)


def commands(path, command):
    """The sections of all commands below one."""
    for sub in shown(command.get("subcommands")):
        name = f"{path} {sub['commandName']}"
        if sub["commandName"] == "help":
            continue
        yield f'.SS "{escaped(name)}"'
        yield synopsis(name, sub)
        yield ".PP"
        yield escaped(sub.get("abstract") or "")
        if sub.get("discussion"):
            yield ".PP"
            yield from paragraphs(sub["discussion"])
        yield from arguments(sub)
        yield from commands(name, sub)


def page(command, version, date):
    name = command["commandName"]
    yield f'.TH {escaped(name.upper())} 1 "{date}" "{escaped(name)} {escaped(version)}" "User Commands"'
    # Names of options are not broken at the end of a line, nor blanks put between words.
    yield ".nh\n.ad l"
    yield f".SH NAME\n{escaped(name)} \\- {escaped((command.get('abstract') or '').rstrip('.'))}"
    yield f".SH SYNOPSIS\n{synopsis(name, command)}"
    if command.get("discussion"):
        yield ".SH DESCRIPTION"
        yield from paragraphs(command["discussion"])
    yield ".SH OPTIONS"
    yield from arguments(command)
    yield ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nShows what a command does; every command has it."
    if shown(command.get("subcommands")):
        yield ".SH COMMANDS"
        yield from commands(name, command)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print("\n".join(page(json.load(sys.stdin)["command"], *sys.argv[1:])))


if __name__ == "__main__":
    main()
