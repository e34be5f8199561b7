"""The software bill of materials of a package: SPDX 2.3 in JSON (https://spdx.github.io/spdx-spec/v2.3/)."""

import hashlib
import json
import re
import time
from urllib.parse import quote

NONE = "NOASSERTION"


def identifier(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(words))


def document(package, pins, parts, libraries, needed, compiler, epoch, inside=()):
    """Bytes of the document.

    package: name, version, architecture, release (such as "bookworm") and sha256 of the .deb; pins: those of
    Package.resolved that are in the program; parts: what these have of others, by their identity; libraries: (name,
    version) of Debian's packages that the program was linked with or loads; needed: names of those with programs that
    it calls; compiler: its version; inside: (name, version) of Debian's packages with libraries that are part of the
    program.
    """
    root = identifier("package", package["name"])
    qualifiers = f"arch={package['architecture']}&distro=debian-{package['release']}"
    packages = [
        {
            "SPDXID": root,
            "name": package["name"],
            "versionInfo": package["version"],
            "downloadLocation": NONE,
            "filesAnalyzed": False,
            "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0",
            "copyrightText": NONE,
            "checksums": [{"algorithm": "SHA256", "checksumValue": package["sha256"]}],
            "primaryPackagePurpose": "APPLICATION",
            "externalRefs": [reference(purl("latchkey", package["name"], package["version"], qualifiers))],
        }
    ]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", root)]
    for pin in pins:
        name, version, revision = pin["identity"], pin["state"].get("version", ""), pin["state"]["revision"]
        location = pin["location"].removesuffix(".git")
        path = location.split("://", 1)[-1]
        own = identifier("swift", name)
        packages.append({
            "SPDXID": own, "name": name, "versionInfo": version, "downloadLocation": f"git+{location}.git@{revision}",
            "filesAnalyzed": False, "licenseConcluded": NONE, "licenseDeclared": NONE, "copyrightText": NONE,
            "externalRefs": [reference(f"pkg:swift/{path}@{version}")]})
        relations.append((root, "STATIC_LINK", own))
        if part := parts.get(name):
            inner = identifier("part", part["name"])
            packages.append({
                "SPDXID": inner, "name": part["name"], "versionInfo": part["version"], "downloadLocation": NONE,
                "filesAnalyzed": False, "licenseConcluded": NONE, "licenseDeclared": "MIT",
                "copyrightText": f"Copyright (c) {part['holder']}",
                "externalRefs": [reference(f"pkg:generic/{part['name']}@{part['version']}")]})
            relations.append((own, "CONTAINS", inner))
    packages.append({
        "SPDXID": "SPDXRef-compiler", "name": "swift", "versionInfo": compiler, "downloadLocation": NONE,
        "filesAnalyzed": False, "licenseConcluded": NONE, "licenseDeclared": "Apache-2.0", "copyrightText": NONE})
    # Its standard library, libdispatch and FoundationEssentials are part of the program.
    relations.append((root, "STATIC_LINK", "SPDXRef-compiler"))
    for name, version, kind in [(*pair, "STATIC_LINK") for pair in inside] + [
        (*pair, "DYNAMIC_LINK") for pair in libraries
    ]:
        own = identifier("debian", name)
        packages.append({
            "SPDXID": own, "name": name, "versionInfo": version, "downloadLocation": NONE, "filesAnalyzed": False,
            "licenseConcluded": NONE, "licenseDeclared": NONE, "copyrightText": NONE,
            "externalRefs": [reference(purl("debian", name, version, qualifiers))]})
        relations.append((root, kind, own))
    for name in needed:
        own = identifier("debian", name)
        # Any version that Depends allows: none is part of the build.
        packages.append({
            "SPDXID": own, "name": name, "downloadLocation": NONE, "filesAnalyzed": False,
            "licenseConcluded": NONE, "licenseDeclared": NONE, "copyrightText": NONE,
            "externalRefs": [reference(purl("debian", name, "", qualifiers))]})
        relations.append((own, "RUNTIME_DEPENDENCY_OF", root))
    made = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{package['name']}_{package['version']}_{package['architecture']}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                         "creators": ["Tool: deploy/package"]},
        "packages": packages,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations]}
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()
    made["documentNamespace"] = f"https://spdx.org/spdxdocs/{made['name']}-{digest[:32]}"
    return json.dumps(made, indent=1, sort_keys=True).encode() + b"\n"


def purl(vendor, name, version, qualifiers):
    """The package URL of a Debian package (https://github.com/package-url/purl-spec)."""
    return (
        f"pkg:deb/{vendor}/{quote(name, safe='')}"
        + (f"@{quote(version, safe=':')}" if version else "")
        + f"?{qualifiers}"
    )


def reference(locator):
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
