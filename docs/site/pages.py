"""What the site consists of: each page with its place in the navigation, and where a file of the repository is in it.

Sources stay where they are in the repository, so that their links work there too; `links.py` turns these links into
those of the site.
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]

# (title, file of the repository) or (title, [entries]). A title of None is the page's own heading.
TASKS = [
    ("Start", "README.md"),
    ("Set up", [
        ("Install", "docs/install.md"),
        ("Enroll", "docs/enroll.md"),
        ("First boot", "docs/first-boot.md"),
        ("The lab gateway", "docs/lab.md"),
    ]),
    ("Use", [
        ("Sensors", "docs/sensors.md"),
        ("Messages", "docs/messages.md"),
        ("Brokers", "docs/brokers.md"),
        ("Home Assistant", "docs/home-assistant.md"),
        ("Log in", "docs/log-in.md"),
        ("Calls", "docs/calls.md"),
        ("Certificates", "docs/certificates.md"),
        ("Programs on the board", "docs/programs.md"),
        ("Keys and credentials of programs", "docs/crypto.md"),
        ("Accounts", "docs/accounts.md"),
        ("OAuth servers", "docs/oauth-servers.md"),
    ]),
    ("Care", [
        ("Security", "docs/security.md"),
        ("Troubleshooting", "docs/troubleshooting.md"),
    ]),
]
REFERENCE = [
    ("Overview", "Config/README.md"),
    ("Local API", "Config/local-api.md"),
    ("Board definitions", "Config/board-definitions.md"),
    ("The console", "Config/console.md"),
    ("Figures", "Config/metrics.md"),
    ("Examples for monitoring tools", "docs/examples/README.md"),
    ("Output of commands", "Config/cli-json.md"),
    ("Login with nearby devices", "Config/proximity.md"),
]
DEVELOPERS = [
    ("Overview", "docs/README.md"),
    ("The map of the code", "Sources/README.md"),
    ("The sealed store", "Sources/Vault/README.md"),
    ("Contributing", "CONTRIBUTING.md"),
    ("Reporting a vulnerability", "SECURITY.md"),
    ("Changes", "CHANGELOG.md"),
    ("Guarantees", "docs/GUARANTEES.md"),
    ("Benchmarks", "docs/BENCHMARKS.md"),
    ("The virtual board", "Tests/VirtualBoard/README.md"),
]
# Folders whose pages are all of one kind: new ones are entered by themselves.
COLLECTIONS = [("Protocols", "docs/protocols"), ("Decisions", "docs/decisions")]

# Where every page has to be in the navigation.
WATCHED = ["docs/*.md", "docs/*/*.md", "Config/*.md", "Sources/*/README.md", "*.md"]
# Files that pages link to, copied as they are.
FILES = [
    "Config/*.json",
    "Config/*.toml",
    "docs/*.png",
    "docs/*.svg",
    "docs/examples/*.json",
    "docs/examples/*.yml",
    "docs/examples/*.conf",
    "LICENSE",
]

PLACES = {
    "README.md": "index.md",
    "Config/README.md": "reference/index.md",
    "docs/README.md": "developers/index.md",
    "docs/GUARANTEES.md": "developers/guarantees.md",
    "docs/BENCHMARKS.md": "developers/benchmarks.md",
    "docs/decisions/README.md": "developers/decisions/index.md",
    "Sources/README.md": "developers/map.md",
    "Sources/Vault/README.md": "developers/vault.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "SECURITY.md": "developers/security.md",
    "CHANGELOG.md": "developers/changes.md",
    "Tests/VirtualBoard/README.md": "developers/virtual-board.md",
    "LICENSE": "LICENSE.txt",
}
FOLDERS = [("docs/protocols/", "developers/protocols/"), ("docs/decisions/", "developers/decisions/"),
           ("docs/", ""), ("Config/", "reference/")]


def place(path):
    """Where a file of the repository is in the site, or None."""
    if path in PLACES:
        return PLACES[path]
    for folder, target in FOLDERS:
        if path.startswith(folder):
            return target + path.removeprefix(folder)
    return None


def collection(folder, root=ROOT):
    """The pages of a folder, its README first."""
    names = sorted((root / folder).glob("*.md"), key=lambda file: (file.name != "README.md", file.name))
    return [(None, f"{folder}/{file.name}") for file in names]


def navigation(root=ROOT):
    """All entries that are files of the repository, by section."""
    collections = [(title, collection(folder, root)) for title, folder in COLLECTIONS]
    return {"tasks": TASKS, "reference": REFERENCE, "developers": DEVELOPERS + collections}


def sources(entries):
    """The files that entries of a navigation name, in their order."""
    for _, target in entries:
        if isinstance(target, list):
            yield from sources(target)
        else:
            yield target


def all_sources(root=ROOT):
    """Every page of the site that is a file of the repository."""
    return [path for section in navigation(root).values() for path in sources(section)]


def attachments(root=ROOT):
    """Files beside the pages, by their paths in the repository."""
    return sorted(str(file.relative_to(root)) for pattern in FILES for file in root.glob(pattern))
