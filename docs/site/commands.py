"""The commands that pages show, and whether the programs have them."""
import re
import shlex
import tomllib

import links
from reference_commands import spelled

PROGRAMS = ("latchkey", "latchkey-lab")
STARTERS = {"sudo", "exec", "env", "nohup", "$"}
INLINE = re.compile(r"`((?:latchkey|latchkey-lab) [^`]+)`")
# A table of the settings, and what may follow it: tables, keys, comments and nothing.
TABLE = re.compile(r"\[\[?[a-z_]+\]\]?$")
IN_SETTINGS = re.compile(rf"{TABLE.pattern}|[a-z_]+ = |#|$")
# Of files that have names like codes: `vault.db`, `metrics.md`.
ENDINGS = {"db", "json", "key", "md", "py", "service", "socket", "toml"}
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
    command = (
        re.sub(r"(?<=\s)<[a-z]|\s[0-9]*(<|>|>>)\s*\S+", " ", command)
        if " < " in command or " > " in command
        else command
    )
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


def settings(text):
    """Every piece of the agent's settings on a page, as (line, TOML).

    Blocks marked toml are settings as a whole. In other blocks settings begin with a line that is a table in lower
    case, such as [agent], and end before one that TOML does not have; tables of systemd's units begin with a capital
    letter.
    """
    found, piece, fence, is_toml = [], None, None, False
    for number, (line, is_prose) in enumerate(links.prose(text), 1):
        opening = links.FENCE.match(line)
        if is_prose or opening and fence and opening[1].startswith(fence):
            piece, fence, is_toml = None, None, False
            continue
        if opening and not fence:
            piece, fence, is_toml = None, opening[1], line.strip() == f"{opening[1]}toml"
            continue
        if piece is None and (is_toml or TABLE.match(line.strip())):
            piece = []
            found.append((number, piece))
        elif not is_toml and not IN_SETTINGS.match(line.strip()):
            piece = None
        if piece is not None:
            piece.append(line.strip())
    return [(number, "\n".join(lines)) for number, lines in found]


def wrong_settings(texts, names, others=()):
    """Settings that pages name as `[table] key`, or show in a block, and that are not there. Blocks of the pages
    `others` have TOML of another kind."""
    for path, text in texts.items():
        for match in re.finditer(r"`\[{1,2}([a-z_]+)\]{1,2}(?: ([a-z_]+)[ =`])?", text):
            table, key = match.groups()
            if table in names and key and key not in names[table]:
                yield f"{path}: there is no setting {key} in [{table}]"
        for number, toml in settings(text) if path not in others else ():
            try:
                shown = tomllib.loads(toml)
            except tomllib.TOMLDecodeError as fault:
                yield f"{path}:{number}: the settings cannot be read: {fault}"
                continue
            for table, content in shown.items():
                if table not in names or not isinstance(content, (dict, list)):
                    yield f"{path}:{number}: there is no table [{table}] in the settings"
                    continue
                for keys in content if isinstance(content, list) else [content]:
                    yield from (
                        f"{path}:{number}: there is no setting {key} in [{table}]"
                        for key in keys
                        if key not in names[table]
                    )


def members(openapi):
    """The members of the status and of what is in them, which pages name as codes are named: status.vault.error is
    `vault.error`."""
    schemas = openapi["components"]["schemas"]
    found = set()
    for name, schema in schemas["Status"]["properties"].items():
        schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        found.update(f"{name}.{inner}" for inner in schema.get("properties", {}))
    return found


def wrong_codes(texts, catalogue, names, others):
    """Errors, events and settings that pages name as `a.b`, and that are not there; `others` are further names of this
    form. What ends like the name of a file is one."""
    known = {entry["name"] for entry in catalogue["entries"]} | set(others)
    known |= {f"{table}.{key}" for table in names for key in names[table]}
    prefixes = {name.partition(".")[0] for name in known if "." in name}
    for path, text in texts.items():
        for match in re.finditer(r"`([a-z-]+)\.([a-z]+(?:[-_][a-z]+)*)`", text):
            name = match[0].strip("`")
            if match[1] in prefixes and match[2] not in ENDINGS and name not in known:
                yield f"{path}: there is no error, event or setting {name}"
