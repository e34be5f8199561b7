"""Reads what a lab gateway answers with the models of scim2-models.

    check_lab.py BASE AUTHORITY TOKEN

BASE is the address of its SCIM, AUTHORITY a file with the certificate that issued the lab's. Prints what it read.
"""
import json
import ssl
import sys
import urllib.error
import urllib.request

import email_validator

# The lab's addresses are in .test.
email_validator.TEST_ENVIRONMENT = True

from scim2_models import Error, Group, ListResponse, Schema, User  # noqa: E402

base, authority, token = sys.argv[1:]
tls = ssl.create_default_context(cafile=authority)


def ask(method, path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/scim+json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, method=method, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, context=tls) as answer:
            return answer.status, json.loads(answer.read() or "null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def group(answer):
    # The gateway's protocol adds the owner to the groups of RFC 7643.
    assert answer.pop("owner")["value"] == "alice"
    return Group.model_validate(answer)


users = ListResponse[User].model_validate(ask("GET", "/Users?sortBy=userName")[1])
print("users", users.total_results, *(user.user_name for user in users.resources))
print("user", User.model_validate(ask("GET", "/Users/bob")[1]).display_name)
made = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "g", "members": [{"value": "bob"}]}
status, answer = ask("POST", "/Groups", made)
made = group(answer)
print("group", status, made.display_name, made.members[0].display)
listed = ask("GET", "/Groups")[1]
for resource in listed["Resources"]:
    group(resource)
print("groups", ListResponse[Group].model_validate(listed).total_results)
for path in ["/Users/carol", "/Groups/none", "/Users?filter=userName"]:
    status, answer = ask("GET", path)
    print("error", Error.model_validate(answer).status, status)
for name in ["User", "Group"]:
    schema = Schema.model_validate(ask("GET", f"/Schemas/urn:ietf:params:scim:schemas:core:2.0:{name}")[1])
    print("schema", schema.name, len(schema.attributes) > 2)
