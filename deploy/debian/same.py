"""Whether two builds of one commit are the same bytes, and if not, where they differ: `deploy/package --twice`."""

import io
import os
import struct
import tarfile
from pathlib import Path

# What a build must not notice. The two differ in their folder, their time, what was kept of builds before, and in
# these.
FIRST = {"LC_ALL": "C", "TZ": "UTC"}
SECOND = {"LC_ALL": "C.UTF-8", "TZ": "<+14>-14", "USER": "another", "LOGNAME": "another"}
SECOND_UMASK = 0o077


def environments(folder):
    """The variables of the two builds; the second has a home of its own in `folder`."""
    home = folder / "home"
    home.mkdir(parents=True)
    (folder / "tmp").mkdir()
    # Where git reads Swift packages from may be set there.
    settings = os.environ.get("GIT_CONFIG_GLOBAL") or str(Path.home() / ".gitconfig")
    return (
        {**os.environ, **FIRST},
        {
            **os.environ,
            **SECOND,
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "TMPDIR": str(folder / "tmp"),
            "GIT_CONFIG_GLOBAL": settings,
        },
    )


def difference(one, other):
    """Says where two packages, or other files, begin to differ; None if they are the same bytes."""
    first, second = Path(one).read_bytes(), Path(other).read_bytes()
    if first == second:
        return None
    if not first.startswith(b"!<arch>\n") or not second.startswith(b"!<arch>\n"):
        return at(first, second)
    for (name, header, content), (other_name, other_header, other_content) in zip(members(first), members(second)):
        if name != other_name:
            return f"{name} and {other_name}"
        if header != other_header and content == other_content:
            return f"{name}: {fields(header)} and {fields(other_header)}"
        if content != other_content:
            return f"{name}: " + (
                archive_difference(content, other_content) if ".tar" in name else at(content, other_content)
            )
    return f"{len(members(first))} and {len(members(second))} members"


def members(package):
    """(name, header, content) of the members of a .deb (ar(5))."""
    found, offset = [], 8
    while offset + 60 <= len(package):
        header = package[offset:offset + 60]
        size = int(header[48:58])
        found.append((header[:16].decode().strip(" /"), header, package[offset + 60:offset + 60 + size]))
        offset += 60 + size + size % 2
    return found


def fields(header):
    """Time, owner, group and mode of a member."""
    return " ".join(header[16:48].decode().split())


def archive_difference(one, other):
    """Says where two archives (tar) begin to differ."""
    with tarfile.open(fileobj=io.BytesIO(one)) as first, tarfile.open(fileobj=io.BytesIO(other)) as second:
        entries, others = first.getmembers(), second.getmembers()
        names, other_names = [entry.name for entry in entries], [entry.name for entry in others]
        if names != other_names:
            only = sorted(set(names) ^ set(other_names))
            return f"{only[0]} is in only one of them" if only else "the files are in another order"
        for entry, twin in zip(entries, others):
            for kind in ("type", "mode", "uid", "gid", "uname", "gname", "mtime", "linkname"):
                if getattr(entry, kind) != getattr(twin, kind):
                    return f"{entry.name}: {kind} {getattr(entry, kind)} and {getattr(twin, kind)}"
            if entry.isreg():
                content, twin_content = first.extractfile(entry).read(), second.extractfile(twin).read()
                if content != twin_content:
                    return f"{entry.name}: {at(content, twin_content)}"
    return "the files are the same, and packed in another way"


def at(one, other):
    """Says where two contents begin to differ, and how many bytes do."""
    differing = [place for place, (byte, twin) in enumerate(zip(one, other)) if byte != twin]
    first = differing[0] if differing else min(len(one), len(other))
    text = (
        f"{len(one)} and {len(other)} bytes"
        if len(one) != len(other)
        else f"{len(differing)} of {len(one)} bytes differ"
    )
    name = section(one, first)
    return f"{text}, from {first} on" + (f", in {name}" if name else "")


def section(program, offset):
    """The section of a program (ELF, 64 bits) that an offset is in, or an empty string."""
    if not program.startswith(b"\x7fELF\x02\x01"):
        return ""
    table, = struct.unpack_from("<Q", program, 0x28)
    size, count, names = struct.unpack_from("<3H", program, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", program, table + size * number) for number in range(count)]
    for name, kind, _, _, start, length in headers:
        # Without a place in the file: SHT_NOBITS.
        if kind != 8 and start <= offset < start + length:
            begin = headers[names][4] + name
            return program[begin:program.index(b"\0", begin)].decode()
    return ""
