"""The request for authorization, as each of the two reference clients writes it (MAG 8.2)."""
import json

#: Payload of a write in an MTU of 23, for which neither client asks more.
PIECE = 20
END = b"EOM"


def request(kind: str, url: str, name: str | None) -> bytes:
    """Both leave letters beyond ASCII as they are, and both write a solidus as `\\/`, as their platforms' libraries do.

    An Android phone keeps the members in order; an iPhone keeps none, so that its name comes first here.
    """
    members = {"provider_url": url} | ({} if name is None else {"device_name": name})
    if kind == "A":
        text = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    else:
        text = json.dumps(dict(sorted(members.items())), ensure_ascii=False, indent=2, separators=(",", " : "))
    return text.replace("/", "\\/").encode()


def pieces(message: bytes, size: int = PIECE) -> list[bytes]:
    """The writes that carry a message. Bytes are cut, not letters."""
    return [message[start:start + size] for start in range(0, len(message), size)]
