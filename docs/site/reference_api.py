"""The pages of the local API, from what `deploy/openapi` prints: one for each subject, and one of the schemas."""
import re

METHODS = ["get", "post", "put", "delete"]
TITLES = {
    "Status and health": ["version", "status", "doctor", "events", "logs", "metrics", "openapi.json", "console"],
    "Board and sensors": ["board", "sensors", "readings", "location"],
    "Messages": ["messages", "send", "user/messages", "user/send", "brokers", "dead-letters", "outbox"],
    "Inboxes and actions": ["inbox", "actions"],
    "Enrollment and gateways": ["enrollments", "gateway", "gateways", "renew", "deregister", "reset", "identity"],
    "Users and sessions": ["user", "login", "logout", "session"],
    "Nearby devices": ["proximity"],
    "Prompts": ["prompts"],
    "Tokens and calls": ["token", "call", "sign", "hosts", "keys", "certificates"],
    "Grants": ["grants"],
    "Keys and credentials of programs": ["crypto", "credentials"],
    "Services of the gateway": ["users", "groups", "schemas", "storage", "devices", "device", "apps"],
    "Accounts": ["accounts", "current-account", "accounts/{account}/introspect"],
    "M-Pin": ["mpin", "accounts/{account}/mpin"],
    "The sealed store": ["vault"],
}


def cell(text):
    text = (text or "").replace("\n", " ").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return text.replace("{", "&#123;")


def subject(path, paths):
    """The title of the page that has a route."""
    plain = path.removeprefix("/v1/accounts/{account}/")
    rest = plain if plain != path and f"/v1/{plain}" in paths else path.removeprefix("/v1/")
    fitting = [(len(start), title) for title, starts in TITLES.items() for start in starts
               if rest == start or rest.startswith(start + "/")]
    return max(fitting)[1]


def page(title):
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-") + ".md"


def kind(schema):
    """The type of a value, in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](schemas.md#{name.lower()})"
    types = schema.get("type", "")
    types = [types] if isinstance(types, str) else list(types)
    if "array" in types:
        return "list of " + (kind(schema.get("items", {})) or "values")
    if "enum" in schema:
        values = [value for value in schema["enum"] if value is not None]
        return ", ".join(f"`{value}`" for value in values)
    text = " or ".join(name for name in types if name != "null")
    limits = [str(schema[name]) if name in schema else "" for name in ("minimum", "maximum")]
    if any(limits):
        text += (
            f" {limits[0]} to {limits[1]}"
            if all(limits)
            else f" from {limits[0]}"
            if limits[0]
            else f" up to {limits[1]}"
        )
    return text


def members(schema, before=""):
    """The members of an object, with those of objects in it, as rows of a table."""
    required = schema.get("required", [])
    for name, member in schema.get("properties", {}).items():
        path = before + name
        inner = member.get("items", {}) if "array" in str(member.get("type", "")) else member
        note = "" if name in required else "optional; "
        text = cell(member.get("description") or inner.get("description"))
        secret = " Secret or personal: keep it out of logs." if member.get("x-sensitive") else ""
        yield f"| `{path}` | {kind(member)} | {(note + text).removesuffix('; ')}{secret} |"
        if "properties" in inner:
            yield from members(inner, f"{path}{'[]' if inner is not member else ''}.")


def table(schema):
    """What an object is, as a table or a phrase."""
    if "$ref" in schema:
        return kind(schema)
    if schema.get("properties"):
        return "\n".join(["| member | type | meaning |", "| --- | --- | --- |", *members(schema)])
    return cell(schema.get("description")) or kind(schema) or "an empty object"


def events(schema):
    """The events of a stream, as a table."""
    rows = []
    for event in schema.get("anyOf") or [schema]:
        properties = event.get("properties", {})
        names = kind(properties.get("event", {}))
        data = properties.get("data", {})
        if "properties" in data:
            what = ", ".join(f"`{name}`" for name in data["properties"])
        else:
            what = kind(data) or cell(data.get("description")) or "–"
        rows.append(f"| {names} | {what} |")
    return "\n".join(["| event | data |", "| --- | --- |", *rows])


def operation(method, path, found, twin):
    """One route."""
    parts = [f"## {method.upper()} {path}".replace("{", "&#123;"), cell(found["summary"]) + ".", found["description"]]
    if twin:
        parts.append(f"Of another account: `{method.upper()} {twin}`.")
    rows = [
        f"| `{p['name']}` | {p['in']} | {kind(p['schema'])} | "
        f"{'' if p['required'] else 'optional; '}{cell(p.get('description'))} |"
        for p in found.get("parameters", [])
    ]
    if rows:
        parts.append("\n".join(["| parameter | in | type | meaning |", "| --- | --- | --- | --- |", *rows]))
    for media, body in found.get("requestBody", {}).get("content", {}).items():
        parts += [f"**Request**, `{media}`", table(body["schema"])]
    for status, answer in found["responses"].items():
        if status == "default":
            continue
        content = answer.get("content", {})
        if "application/x-ndjson" in content:
            others = [media for media in content if media not in ("application/x-ndjson", "application/json")]
            parts += [f"**Answer {status}**, a stream: `application/x-ndjson`, "
                      + ", ".join(f"`{media}`" for media in others), events(content["application/x-ndjson"]["schema"])]
        for media, body in content.items():
            if media == "application/json":
                parts += [f"**Answer {status}**", table(body["schema"])]
    return "\n\n".join(parts)


def documents(openapi):
    """The pages, by name."""
    paths = openapi["paths"]
    by_title = {title: [] for title in TITLES}
    for path, methods in paths.items():
        plain = path.replace("/v1/accounts/{account}/", "/v1/")
        twin = path.replace("/v1/", "/v1/accounts/{account}/", 1)
        for method in METHODS:
            if method in methods and (plain == path or method not in paths.get(plain, {})):
                has_twin = twin if method in paths.get(twin, {}) else None
                by_title[subject(path, paths)].append(operation(method, path, methods[method], has_twin))
    found = {page(title): f"# {title}\n\n" + "\n\n".join(routes) + "\n" for title, routes in by_title.items() if routes}
    schemas = ["# Schemas", "What several routes have in common. No answer has other members than these."]
    for name, schema in sorted(openapi["components"]["schemas"].items()):
        schemas.append(f"## {name}")
        if schema.get("properties"):
            schemas.append(cell(schema.get("description")))
        schemas.append(table(schema))
        if "enum" in schema:
            schemas.append(kind(schema))
    found["schemas.md"] = "\n\n".join(filter(None, schemas)) + "\n"
    rows = [f"| [{title}]({page(title)}) | {len(routes)} |" for title, routes in by_title.items() if routes]
    found["index.md"] = "\n".join(
        [
            "# Routes of the local API",
            "",
            "Each page describes requests and answers exactly; how to use them, access, errors and event streams are",
            "in [The local API](../local-api.md). For programs: [openapi.json](../openapi.json), which the daemon",
            "also serves.",
            "",
            "| subject | routes |",
            "| --- | --- |",
            *rows,
            "| [Schemas](schemas.md) | |",
            "",
        ]
    )
    return found
