"""The pages of errors, events and numbers, from `latchkey explain --list --json`."""


def cell(text):
    text = (text or "").replace("\n", " ").replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
    return text.replace("<", "&lt;").replace(">", "&gt;")


def sentence(text):
    """Text with a capital letter and a period, unless it begins with the name of a program."""
    text = cell(text).strip()
    if not text.startswith("latchkey"):
        text = text[:1].upper() + text[1:]
    return text + ("" if not text or text.endswith((".", "?")) else ".")


def by_prefix(entries):
    """Entries by the part of their name before the first dot, sorted."""
    found = {}
    for entry in sorted(entries, key=lambda entry: entry["name"]):
        found.setdefault(entry["name"].partition(".")[0], []).append(entry)
    return sorted(found.items())


def error(entry):
    """One error, as a heading that the search finds."""
    parts = [f"### {entry['name']}"]
    messages = entry.get("messages", [])
    if entry.get("meaning") and entry["meaning"] not in [m["message"] for m in messages]:
        parts.append(sentence(entry["meaning"]))
    for message in messages:
        parts.append(f"> {cell(message['message'])}")
        if message.get("remedy"):
            parts.append(f"What to do: {sentence(message['remedy'])}")
    facts = [f"kind `{entry['kind']}`", f"exit status {entry['exitStatus']}", f"HTTP {entry['httpStatus']}"]
    if entry.get("numbers"):
        facts.append("numbers " + ", ".join(map(str, entry["numbers"])))
    if entry.get("status"):
        facts.append(f"status `{entry['status']}`")
    parts.append("*" + " · ".join(facts) + "*")
    return "\n\n".join(parts)


def documents(catalogue):
    """The pages, by name."""
    of = {}
    for entry in catalogue["entries"]:
        of.setdefault(entry["category"], []).append(entry)
    found = {}
    errors = [
        "# Errors",
        f"All {len(of['error'])} errors of the program; `latchkey explain NAME` prints the same. Capital "
        "letters and names in a message are examples. What the kinds mean: [The local API](local-api.md#errors).",
    ]
    for prefix, entries in by_prefix(of["error"]):
        errors += [f"## {prefix}", *map(error, entries)]
    found["errors.md"] = "\n\n".join(errors) + "\n"

    events = ["# Events", "What `latchkey status --follow` and `GET /v1/events` report. The members of each are in "
              "[Schemas](api/schemas.md)."]
    for prefix, entries in by_prefix(of["event"]):
        rows = [f"| `{entry['name']}` | {sentence(entry['meaning'])} |" for entry in entries]
        events += [f"## {prefix}", "\n".join(["| event | meaning |", "| --- | --- |", *rows])]
    found["events.md"] = "\n\n".join(events) + "\n"

    def row(entry):
        remedies = " ".join(sentence(message.get("remedy")) for message in entry.get("messages", []))
        code = f"[`{entry['code']}`](errors.md#{anchor(entry['code'])})" if entry.get("code") else ""
        return f"| `{entry['name']}` | {sentence(entry.get('meaning'))} | {code} | {remedies} |"

    def anchor(code):
        return code.replace(".", "")

    numbers = [
        "# Numbers of the gateway",
        "What the gateway's header `x-ca-err` ends with, and the error codes of OAuth 2.0.",
    ]
    head = ["| number | meaning | error here | what to do |", "| --- | --- | --- | --- |"]
    numbers += ["## x-ca-err, the last three digits", "\n".join(head + [row(entry) for entry in of["gateway-number"]])]
    head[0] = head[0].replace("number", "code")
    numbers += ["## OAuth 2.0", "\n".join(head + [row(entry) for entry in of["oauth-error"]])]
    found["numbers.md"] = "\n\n".join(numbers) + "\n"
    return found
