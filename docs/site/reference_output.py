"""What each command prints with --json, from `Config/cli-json.schema.json`, as its reference page shows it."""
import re

import reference_api
from reference_commands import cell, spelled, subcommands

ROUTE = re.compile(
    r"openapi\.json#/paths/([^/]+)/(\w+)/responses/\d+/content/application~1(json|x-ndjson)/schema(/.*)?$"
)


def commands(help_):
    """The names of all commands that take --json, as they are typed after the program's."""
    def walk(command, path):
        subs = subcommands(command)
        for sub in subs:
            yield from walk(sub, [*path, sub["commandName"]])
        names = [spelled(name) for argument in command.get("arguments", []) for name in argument.get("names", [])]
        if not subs and "--json" in names:
            yield " ".join(path)

    return set(walk(help_["command"], []))


def names(schemas):
    """The commands that have a schema; other definitions begin with a capital letter."""
    return {name for name in schemas["$defs"] if name[0].islower()}


def faults(schemas, help_, catalogue):
    """Commands without a schema, schemas without a command, and exit statuses that the program does not have."""
    there, described = commands(help_), names(schemas)
    for name in sorted(there - described):
        yield f"Config/cli-json.schema.json: there is no schema of latchkey {name} --json"
    for name in sorted(described - there):
        yield f"Config/cli-json.schema.json: there is no command latchkey {name} with --json"
    statuses = {entry["kind"]: entry["exitStatus"] for entry in catalogue["entries"] if "kind" in entry}
    if schemas["$defs"]["Error"]["x-exit-statuses"] != statuses:
        yield "Config/cli-json.schema.json: the exit statuses of Error are not those of latchkey explain --list"


def route(found, openapi):
    """A link to a route, or to the events of its stream."""
    path = found[1].replace("~1", "/").replace("%7B", "{").replace("%7D", "}")
    page = reference_api.page(reference_api.subject(path, openapi["paths"]))
    plain = path.replace("/v1/accounts/{account}/", "/v1/")
    shown = plain if found[2] in openapi["paths"].get(plain, {}) else path
    anchor = re.sub(r"[^a-z0-9_-]+", "", f"{found[2]} {shown}".lower().replace(" ", "-"))
    link = f"[`{found[2].upper()} {shown}`](../api/{page}#{anchor})"
    if found[3] == "json":
        return f"the answer of {link}"
    return f"the `data` of an event of {link}" if found[4] else f"an event of {link}"


def phrase(schema, schemas, openapi):
    """What one of the alternatives is, in a few words."""
    reference = schema.get("$ref", "")
    if found := ROUTE.match(reference):
        return route(found, openapi)
    if reference.startswith("openapi.json#/components/schemas/"):
        name = reference.rpartition("/")[2]
        return f"[{name}](../api/schemas.md#{name.lower()})"
    if reference.startswith("#/$defs/"):
        schema = schemas["$defs"][reference.rpartition("/")[2]]
    note = f" ({cell(schema['description'])})" if schema.get("description") else ""
    if "anyOf" in schema or "additionalProperties" not in schema and "properties" in schema:
        return cell(schema["description"])
    if schema.get("type") == "array":
        return f"a list{note}"
    return "an object with " + ", ".join(f"`{name}`" for name in schema["properties"]) + note


def paragraph(name, schemas, openapi):
    """What a command prints, or nothing for one without --json."""
    schema = schemas["$defs"].get(name)
    if not schema:
        return ""
    parts = [phrase(part, schemas, openapi) for part in schema.get("anyOf", [schema])]
    if len(parts) == 1:
        return f"With `--json` it prints {parts[0]}."
    return "With `--json` each line is, by options and events, one of:\n\n" + "\n".join(f"- {part}" for part in parts)
