import Cryptography
import Foundation
import Groundwork

/// A certificate authority and documents for tests that need no server.
enum Documents {
    /// One for all tests: making keys takes time.
    static let authorityKey = try! PrivateKey(generating: .p256)  // Cannot fail where the tests can run at all.
    static let authority = try! CertificateTemplate(
        subject: DistinguishedName([(.commonName, "Test Authority")]), notBefore: Date(timeIntervalSince1970: 0),
        notAfter: Date(timeIntervalSince1970: 4_000_000_000), isCA: true
    ).issue(for: authorityKey.publicKey, by: nil, signedWith: authorityKey)

    /// The short example of MAG 1.1 in members, with what a test changes.
    static func document(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> [UInt8] {
        var members: [String: Any] = [
            "server": [
                "hostname": "gw.lab.test", "port": 8443, "prefix": "",
                "server_certs": [authority.pem.split(separator: "\n").map(String.init)],
            ] as [String: Any],
            "oauth": [
                "client": [
                    "organization": "Lab Org", "client_name": "agent", "client_type": "confidential",
                    "registered_by": "admin",
                    "client_ids": [
                        [
                            "client_id": "5c0e", "client_secret": "", "scope": "openid msso mas_messaging",
                            "redirect_uri": "labagent://callback", "environment": "ALL", "status": "ENABLED",
                        ]
                    ],
                ] as [String: Any]
            ],
        ]
        change(&members)
        return Array(try JSONSerialization.data(withJSONObject: members))
    }

    /// A device certificate for a key.
    static func certificate(for key: PublicKey, from: Date, until: Date) throws -> Certificate {
        try CertificateTemplate(
            subject: DistinguishedName([(.commonName, "clientName")]), notBefore: from, notAfter: until
        ).issue(for: key, by: authority, signedWith: authorityKey)
    }
}

extension [String: Any] {
    /// Sets or, with `nil`, removes the member at a path of keys; numbers are places in arrays.
    mutating func set(_ path: String, to value: Any?) {
        self = Self.changed(self, path.split(separator: ".")[...], value) as? [String: Any] ?? self
    }

    private static func changed(_ node: Any?, _ path: ArraySlice<Substring>, _ value: Any?) -> Any? {
        guard let step = path.first else { return value }
        if let index = Int(step) {
            var array = node as? [Any] ?? []
            let element = changed(array.indices.contains(index) ? array[index] : nil, path.dropFirst(), value)
            if array.indices.contains(index) {
                array[index] = element ?? NSNull()
            } else if let element {
                array.append(element)
            }
            return array
        }
        var members = node as? [String: Any] ?? [:]
        members[String(step)] = changed(members[String(step)], path.dropFirst(), value)
        return members
    }
}
