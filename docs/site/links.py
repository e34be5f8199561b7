"""Links between pages: checks those of the repository, and turns them into those of the site."""
import html
import os.path
import re
import unicodedata

import pages

FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
CODE = re.compile(r"(`+)(?:(?!\1).)+\1")
HEADING = re.compile(r"^(#{1,6}) +(.+?)(?: +#+)?$")


def prose(text):
    """The lines of a page with whether each is prose: neither in a fence nor an indented block of code."""
    fence, blank, indented = None, True, False
    for line in text.split("\n"):
        opening = FENCE.match(line)
        if fence:
            yield line, False
            if opening and opening[1].startswith(fence):
                fence = None
            continue
        if opening:
            fence, indented = opening[1], False
            yield line, False
            continue
        if line.strip():
            indented = line.startswith("    ") and (indented or blank)
            blank = False
        else:
            blank = True
        yield line, not indented


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", html.unescape(heading)).replace("`", "").replace("*", "")
    text = unicodedata.normalize("NFC", text).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    """All anchors of a page."""
    found, seen = set(), {}
    for line, is_prose in prose(text):
        heading = HEADING.match(line) if is_prose else None
        if heading:
            name = slug(heading[2])
            count = seen[name] = seen.get(name, -1) + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def paragraphs(text):
    """The text in pieces with whether each is prose: a link may begin on one line of a paragraph and end on another."""
    piece, kind = [], None
    for line, is_prose in prose(text):
        # A heading is a paragraph, and what is not prose goes line by line.
        alone = not is_prose or not line.strip() or HEADING.match(line)
        if piece and (alone or kind != is_prose):
            yield "\n".join(piece), kind
            piece = []
        piece.append(line)
        kind = is_prose
        if alone:
            yield line, is_prose
            piece = []
    if piece:
        yield "\n".join(piece), kind


def replaced(text, replace, code=lambda span: span):
    """The text with `replace(label, target)` in the place of each link, and `code(span)` of each span of code outside
    links and headings."""
    pieces = []
    for piece, is_prose in paragraphs(text):
        if is_prose:
            # What is between back quotes is no link.
            spans = []

            def shown(text, change=lambda span: span, spans=spans):
                return re.sub(r"\0(\d+)\0", lambda m: change(spans[int(m[1])]), text)

            masked = CODE.sub(lambda m: spans.append(m[0]) or f"\0{len(spans) - 1}\0", piece)  # noqa: B023
            masked = LINK.sub(lambda m: replace(shown(m[1]), m[2]), masked)
            piece = shown(masked) if HEADING.match(piece) else shown(masked, code)
        pieces.append(piece)
    return "\n".join(pieces)


class Links:
    """The links of a set of pages, given as path and text."""

    def __init__(self, texts, root=pages.ROOT):
        self.texts, self.root, self.faults = texts, root, []
        self.anchors = {path: anchors(text) for path, text in texts.items()}
        self.attachments = set(pages.attachments(root))

    def in_site(self, path, code=lambda span: span):
        """The page as the site has it: with the links of the site, without those that lead out of it, and with spans of
        code as `code` has them."""
        def replace(label, target):
            if re.match(r"[a-z]+:", target):
                return f"{label}({target})"
            name, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if (self.root / file).is_dir():
                file = f"{file}/README.md" if (self.root / file / "README.md").exists() else file
                if file == "docs/protocols":
                    file = "docs/protocols/mag.md"
            if not (self.root / file).exists() and file not in self.texts:
                self.faults.append(f"{path}: {target} is not there")
                return label
            if anchor and anchor not in self.anchors.get(file, ()):
                self.faults.append(f"{path}: {target}: there is no such heading")
            if file not in self.texts and file not in self.attachments:
                return label[1:-1]
            here = os.path.dirname(pages.place(path))
            there = os.path.relpath(pages.place(file), here or ".")
            return f"{label}({there}{'#' + anchor if anchor else ''})"

        return replaced(self.texts[path], replace, code)


def outside_navigation(root=pages.ROOT):
    """Faults: pages in no navigation, in it twice, or in it without a file."""
    entered = pages.all_sources(root)
    there = {str(file.relative_to(root)) for pattern in pages.WATCHED for file in root.glob(pattern)}
    faults = [
        f"{path}: the page is in no navigation; enter it in docs/site/pages.py" for path in sorted(there - set(entered))
    ]
    faults += [f"{path}: the navigation has a page that is not there" for path in entered if not (root / path).exists()]
    faults += [
        f"{path}: the page is in the navigation twice" for path in sorted({p for p in entered if entered.count(p) > 1})
    ]
    return faults
