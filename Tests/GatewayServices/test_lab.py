"""Has scim2-tester judge the SCIM of a lab gateway.

    test_lab.py BASE AUTHORITY TOKEN

BASE is the address of its SCIM, AUTHORITY a file with the certificate that issued the lab's. Prints how many checks
there were; exits with 1 if one failed.
"""
import json
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request

import email_validator

# The lab's addresses are in .test.
email_validator.TEST_ENVIRONMENT = True

from scim2_client import BaseSyncSCIMClient  # noqa: E402
from scim2_tester import Status, check_server  # noqa: E402

base, authority, token = sys.argv[1:]
tls = ssl.create_default_context(cafile=authority)


class Answer:
    def __init__(self, answer):
        self.status_code, self.headers, self.content = answer.status, answer.headers, answer.read()

    @property
    def text(self):
        return self.content.decode()


class Client(BaseSyncSCIMClient):
    """Over urllib, which needs nothing else."""

    def _stays_under_base_url(self, endpoint):
        return endpoint.startswith("/")

    def _parse_json(self, response):
        return json.loads(response.content)

    def request(self, method, url, json=None, params=None, headers=None, **_):
        query = "?" + urllib.parse.urlencode(params, doseq=True) if params else ""
        known = {"Authorization": f"Bearer {token}", "Content-Type": "application/scim+json", **(headers or {})}
        request = urllib.request.Request(base + url + query, method=method, headers=known, data=encoded(json))
        try:
            with urllib.request.urlopen(request, context=tls) as answer:
                return Answer(answer)
        except urllib.error.HTTPError as error:
            return Answer(error)


def encoded(body):
    return None if body is None else json.dumps(body).encode()


results = check_server(Client())
failed = [result for result in results if result.status not in (Status.SUCCESS, Status.SKIPPED)]
for result in failed:
    print(result.status.name, result.resource_type, result.title, result.reason, file=sys.stderr)
skipped = sorted({result.title for result in results if result.status == Status.SKIPPED})
print(f"{len(results)} checks, {len(failed)} failed, skipped:", *skipped)
sys.exit(bool(failed))
