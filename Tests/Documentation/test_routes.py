"""The table of routes in Config/local-api.md against the routes that the program has."""
import re
import unittest

from test_pages import FACTS, ROOT

TEXT = (ROOT / "Config/local-api.md").read_text()
METHODS = {"GET", "POST", "PUT", "DELETE"}
OF_ACCOUNT = "/v1/accounts/{account}/"


def named(text):
    """What the rows of the table name: (method, path, the last whole path of the row); `…` stands for a beginning."""
    for cell in re.findall(r"(?m)^\| (`(?:GET|POST|PUT|DELETE)\b[^|]*) \|", text):
        methods, whole, is_open = [], "", False
        for words in re.findall(r"`([^`]+)`", cell):
            method, _, path = words.rpartition(" ")
            if path in METHODS:
                method, path = path, ""
            if method:
                methods = [*methods, method] if is_open else [method]
            is_open = not path
            whole = path if path.startswith("/") else whole
            if path:
                yield from ((method, path, whole) for method in methods)


def fits(route, name):
    """Whether a row means a route."""
    (method, path), (meant, written, whole) = route, name
    if method != meant or written.startswith("/"):
        return method == meant and path == written
    return path.endswith(written.removeprefix("…")) and path.startswith("/".join(whole.split("/")[:3]))


class TheTable(unittest.TestCase):
    def setUp(self):
        self.routes = {
            (method.upper(), path)
            for path, methods in FACTS.openapi["paths"].items()
            for method in methods
            if method.upper() in METHODS
        }
        self.names = list(named(TEXT))

    def test_names_every_route(self):
        self.assertGreater(len(self.names), 150)
        missing = []
        for method, path in sorted(self.routes):
            # The chapter about accounts says that these are as without the account.
            plain = (method, path.replace(OF_ACCOUNT, "/v1/", 1))
            is_plain = plain != (method, path) and plain in self.routes
            if not is_plain and not any(fits((method, path), name) for name in self.names):
                missing.append(f"{method} {path}")
        # The description of all the others, which the text above the table names.
        self.assertIn("`GET /v1/openapi.json`", TEXT)
        self.assertEqual(missing, ["GET /v1/openapi.json"])

    def test_names_no_other_route(self):
        gone = [name for name in self.names if not any(fits(route, name) for route in self.routes)]
        self.assertEqual(gone, [])


if __name__ == "__main__":
    unittest.main()
