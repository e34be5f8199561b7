"""The commands that pages show, and whether the programs have them."""
import re
import shlex

import links
from reference_commands import spelled

PROGRAMS = ("latchkey", "latchkey-lab")
STARTERS = {"sudo", "exec", "env", "nohup", "$"}
INLINE = re.compile(r"`((?:latchkey|latchkey-lab) [^`]+)`")
BLOCK = re.compile(r"^\s*(?:\$ )?(?:.*\| )?(?:sudo )?(latchkey(?:-lab)? [\w<'\"-].*)$")


def found(path, text):
    """Every command of a page as (path:line, command), continued lines joined."""
    number, continued = 0, ""
    for line, is_prose in links.prose(text):
        number += 1
        if is_prose:
            for match in INLINE.finditer(line):
                yield f"{path}:{number}", match[1]
            continue
        line, continued = continued + line.strip(), ""
        if line.endswith("\\"):
            continued = line[:-1]
            continue
        match = BLOCK.match(line)
        if match:
            yield f"{path}:{number}", match[1]


def words(command):
    """The words of the first program that a line calls. Redirections, comments and what follows are left out."""
    command = re.sub(r"\s#\s.*$", "", command)
    command = re.sub(r"(?<=\s)<[a-z]|\s[0-9]*(<|>|>>)\s*\S+", " ", command) if " < " in command or " > " in command else command
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split, lexer.commenters = True, ""
    found = []
    for word in lexer:
        if word and set(word) <= set("|&;"):
            break
        found.append(word)
    return found


class Commands:
    """The commands of programs, by what `--experimental-dump-help` says of each."""

    def __init__(self, *helps):
        self.roots = {help_["command"]["commandName"]: help_["command"] for help_ in helps}

    def fault(self, command):
        """What is wrong with a command, or None."""
        try:
            given = words(command)
        except ValueError:
            return "quotation marks do not match"
        if given[0] not in self.roots:
            return None
        at, rest = self.roots[given[0]], given[1:]
        while rest and (sub := self.sub(at, rest[0])):
            at, rest = sub, rest[1:]
        group = at
        while at.get("defaultSubcommand") and (default := self.sub(at, at["defaultSubcommand"])):
            at = default
        # A word may be an argument of the subcommand that is meant without one.
        takes = at is not group and any(a["kind"] == "positional" for a in at.get("arguments", []))
        if rest and group.get("subcommands") and not takes and not rest[0].startswith("-"):
            # A word in capitals stands for any of them.
            return None if rest[0].isupper() or rest[0] == "…" else f"there is no subcommand {rest[0]}"
        return self.arguments(at, rest)

    @staticmethod
    def sub(command, name):
        return next((sub for sub in command.get("subcommands", []) if sub["commandName"] == name), None)

    @staticmethod
    def arguments(command, rest):
        """What is wrong with options and arguments, or None."""
        options = {spelled(name): argument for argument in command.get("arguments", [])
                   for name in argument.get("names", [])}
        positional = [a for a in command.get("arguments", []) if a["kind"] == "positional"]
        count, rest = 0, list(rest)
        while rest:
            word = rest.pop(0)
            if word == "--":
                count += len(rest)
                break
            if word in ("-", "…", "...") or not word.startswith("-"):
                count += word not in ("…", "...")
                continue
            name, equals, _ = word.partition("=")
            if name not in options:
                return f"there is no option {name}"
            if options[name]["kind"] == "option" and not equals:
                # Without a value it names the option, as in "or use --yes".
                rest = rest[1:]
        if count > len(positional) and not any(a["isRepeating"] for a in positional):
            return f"it takes {len(positional)} arguments, not {count}"
        return None


def faults(texts, commands):
    """Faults of all commands of the pages, and how many commands there are."""
    wrong, count = [], 0
    for path, text in texts.items():
        for where, command in found(path, text):
            count += 1
            if fault := commands.fault(command):
                wrong.append(f"{where}: {command}: {fault}")
    return wrong, count


def wrong_settings(texts, names):
    """Settings that pages name as `[table] key` or `table.key`, and that are not there."""
    for path, text in texts.items():
        for match in re.finditer(r"`\[{1,2}([a-z_]+)\]{1,2}(?: ([a-z_]+)[ =`])?", text):
            table, key = match.groups()
            if table in names and key and key not in names[table]:
                yield f"{path}: there is no setting {key} in [{table}]"


def wrong_codes(texts, catalogue):
    """Errors and events that pages name and that are not there."""
    known = {entry["name"] for entry in catalogue["entries"]}
    prefixes = {name.partition(".")[0] for name in known if "." in name}
    for path, text in texts.items():
        for match in re.finditer(r"`([a-z-]+)\.([a-z]+(?:-[a-z]+)+)`", text):
            if match[1] in prefixes and match[0].strip("`") not in known:
                yield f"{path}: there is no error or event {match[0].strip('`')}"
