"""Checks the pages, and makes the folder that mkdocs builds the site from; see deploy/docs."""
import argparse
import json
import os.path
import pathlib
import re
import shutil
import subprocess
import sys
from xml.sax.saxutils import quoteattr

import commands
import links
import pages
import reference_api
import reference_commands
import reference_errors
import reference_output
import reference_settings

# Pages of old versions and of records, whose commands may be of their time.
RECORDS = ("CHANGELOG.md", "docs/decisions/", "docs/protocols/")

# Pages whose blocks of TOML are definitions of boards, not settings.
BOARDS = ("Config/board-definitions.md", "docs/sensors.md")

# What a page loads when it is opened.
ELSEWHERE = re.compile(
    r"""<(?:script|img|iframe|link(?! rel="canonical"))[^>]* (?:src|href)=["']?(?:https?:)?//[^"' >]*"""
)

# What the overview of the reference has in the site alone.
MADE = """
## From the programs themselves

| page | what it is |
| --- | --- |
| [Commands](commands/index.md) | every command with its options |
| [Settings](settings.md) | every setting with its default |
| [Routes](api/index.md) | requests and answers of the local API |
| [Errors](errors.md) | every error, with what to do |
| [Events](events.md) | what the agent reports |
| [Numbers of the gateway](numbers.md) | `x-ca-err`, and the codes of OAuth 2.0 |
"""


def asked(program, *arguments):
    """What a program prints as JSON."""
    return json.loads(subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE).stdout)


class Facts:
    """What the programs and the files of Config say about themselves, each asked once."""

    def __init__(self, programs, root=pages.ROOT):
        self.help = asked(programs / "latchkey", "--experimental-dump-help")
        self.lab = asked(programs / "latchkey-lab", "--experimental-dump-help")
        self.catalogue = asked(programs / "latchkey", "explain", "--list", "--json")
        self.openapi = asked(root / "deploy/openapi", "--programs", programs)
        self.output = json.loads((root / "Config/cli-json.schema.json").read_text())
        self.settings = (root / "Config/latchkey.toml").read_text()


def read(root=pages.ROOT):
    """The texts of all pages that are files."""
    return {path: (root / path).read_text() for path in pages.all_sources(root) if (root / path).exists()}


def generated(facts):
    """The pages that are made from the code: (title, [(title, path in the site)]), and their texts."""
    texts, sections = {}, []

    def add(title, folder, documents, first="index.md"):
        names = sorted(documents, key=lambda name: (name != first, name))
        texts.update({f"{folder}/{name}": documents[name] for name in names})
        sections.append((title, [(None, f"{folder}/{name}") for name in names]))

    def output(path):
        return reference_output.paragraph(path.partition(" ")[2], facts.output, facts.openapi)

    add("Commands", "reference/commands", reference_commands.documents(facts.help, "latchkey", output))
    texts["reference/settings.md"] = reference_settings.document(facts.settings)
    sections.append((None, "reference/settings.md"))
    api = reference_api.documents(facts.openapi)
    texts.update({f"reference/api/{name}": text for name, text in api.items()})
    titles = [reference_api.page(title) for title in reference_api.TITLES]
    sections.append(("Routes", [(None, f"reference/api/{name}") for name in ["index.md", *titles, "schemas.md"]]))
    errors = reference_errors.documents(facts.catalogue)
    texts.update({f"reference/{name}": text for name, text in errors.items()})
    sections += [(None, f"reference/{name}") for name in errors]
    return sections, texts


def faults(texts, facts, of=None):
    """Everything that is wrong with the pages, or with those that `of` names, and how many commands were checked."""
    of = texts if of is None else of
    checked = {path: texts[path] for path in of if not path.startswith(RECORDS)}
    wrong = links.outside_navigation()
    of_site = links.Links(texts)
    for path in of:
        of_site.in_site(path)
    wrong += of_site.faults
    bad, count = commands.faults(checked, commands.Commands(facts.help, facts.lab))
    wrong += bad
    names = reference_settings.names(facts.settings)
    wrong += commands.wrong_settings(checked, names, BOARDS)
    wrong += commands.wrong_codes(checked, facts.catalogue, names, commands.members(facts.openapi))
    wrong += reference_output.faults(facts.output, facts.help, facts.catalogue)
    return wrong, count


def entry(title, target):
    return {title: target} if title else target


def placed(entries):
    """A navigation of repository files as one of the site."""
    return [
        entry(title, placed(target) if isinstance(target, list) else pages.place(target)) for title, target in entries
    ]


def configuration(sections, folder):
    """mkdocs.yml, as JSON is YAML."""
    navigation = pages.navigation()
    reference = placed(navigation["reference"]) + [
        entry(title, [entry(*one) for one in target] if isinstance(target, list) else target)
        for title, target in sections
    ]
    base = json.loads((pathlib.Path(__file__).parent / "mkdocs.json").read_text())
    base |= {
        "docs_dir": str(folder / "pages"),
        "site_dir": str(folder / "site"),
        "nav": placed(navigation["tasks"])
        + [{"Reference": reference}, {"Developers": placed(navigation["developers"])}],
    }
    text = json.dumps(base, indent=1)
    # Anchors as GitHub makes them, so that a link works at both places; JSON has no way to say this.
    return text.replace('"GITHUB_SLUGS"', "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}")


def linked(help_, path):
    """Makes a span of code that is a command a link to its page in the reference."""
    folder = os.path.relpath("reference/commands", os.path.dirname(pages.place(path)) or ".")

    def link(span):
        words = span.strip("`").split()
        if words[:1] != ["latchkey"]:
            return span
        at, names = help_["command"], []
        for word in words[1:]:
            at = next((sub for sub in reference_commands.subcommands(at) if sub["commandName"] == word), None)
            if not at:
                break
            names.append(word)
        anchor = "#" + "-".join(["latchkey", *names]) if len(names) > 1 else ""
        return f"[{span}]({folder}/{names[0]}.md{anchor})" if names else span

    return link


def first_page(text):
    """The first page without an empty navigation beside it, and with its picture in the colors that were chosen."""
    def inline(match):
        picture = (pages.ROOT / "docs" / match[2]).read_text().replace("\n\n", "\n")
        picture = picture.replace("@media (prefers-color-scheme: dark)", '[data-md-color-scheme="slate"]')
        labeled = re.sub("aria-label=.[^>]*", lambda _: "aria-label=" + quoteattr(match[1]), picture)
        return f'<div class="picture">\n{labeled}</div>'

    return "---\nhide: [navigation]\n---\n\n" + re.sub(r"!\[([^\]]*)\]\((\w+\.svg)\)", inline, text)


def stage(texts, facts, folder):
    """Writes pages and settings of mkdocs into a folder."""
    shutil.rmtree(folder / "pages", ignore_errors=True)
    of_site = links.Links(texts)
    sections, made = generated(facts)
    for path in texts:
        made[pages.place(path)] = of_site.in_site(path, linked(facts.help, path))
    made["index.md"] = first_page(made["index.md"])
    made["reference/index.md"] += MADE
    for path, text in made.items():
        file = folder / "pages" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    here = pathlib.Path(__file__).parent
    for source, target in [(pages.ROOT / path, pages.place(path)) for path in pages.attachments()] + [
            (here / name, name) for name in ("style.css", "worker.js")]:
        file = folder / "pages" / target
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, file)
    (folder / "pages/reference/openapi.json").write_text(json.dumps(facts.openapi, indent=1, ensure_ascii=False))
    (folder / "mkdocs.yml").write_text(configuration(sections, folder))


def finish(site):
    """Has the theme load its one script from elsewhere from here. Returns what pages would still load from
    elsewhere."""
    wrong = []
    for file in sorted(site.rglob("*.html")):
        text = file.read_text()
        text = text.replace("https://unpkg.com/iframe-worker/shim", os.path.relpath(site / "worker.js", file.parent))
        file.write_text(text)
        wrong += [f"{file}: loads {match[0]}" for match in ELSEWHERE.finditer(text)]
    return wrong


def report(wrong):
    """Prints what is wrong, and exits if anything is."""
    for fault in wrong:
        print(fault, file=sys.stderr)
    if wrong:
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, help="folder of latchkey and latchkey-lab")
    parser.add_argument(
        "--stage", type=pathlib.Path, help="folder for what mkdocs reads; without it, the pages are checked only"
    )
    parser.add_argument("--finish", type=pathlib.Path, help="the folder of a site that mkdocs has built")
    options = parser.parse_args()
    if options.finish:
        report(finish(options.finish))
        return
    texts, facts = read(), Facts(options.programs)
    wrong, count = faults(texts, facts)
    report(wrong)
    print(f"{len(texts)} pages and {count} commands are as they should be")
    if options.stage:
        stage(texts, facts, options.stage.resolve())


if __name__ == "__main__":
    main()
