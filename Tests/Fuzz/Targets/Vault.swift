import Cryptography
import Groundwork

@testable import Vault

extension FuzzTarget {
    static let vault = [
        FuzzTarget(name: "vault-manifest") { bytes throws(Violation) in
            guard let manifest = Manifest(decoding: bytes) else { return .refused }
            try require(manifest.entries.count <= ManifestRoot.recordLimit, "a list of records is bounded")
            try require(
                manifest.entries.values.allSatisfy { (1...max(1, manifest.generation)).contains($0.version) },
                "no record is newer than the list")
            return .accepted
        },
        FuzzTarget(name: "vault-page") { bytes throws(Violation) in
            guard let page = ManifestPage(decoding: bytes) else { return .refused }
            try require((1...ManifestPage.limit).contains(page.entries.count), "a page has some records, and not many")
            try require(page.encoded() == bytes, "a page has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "vault-root") { bytes throws(Violation) in
            guard let root = ManifestRoot(decoding: bytes) else { return .refused }
            try require(root.count <= ManifestRoot.recordLimit, "a vault has a bounded number of records")
            try require(root.encoded() == bytes, "a root has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "passphrase-parameters") { bytes throws(Violation) in
            guard let parameters = Passphrase.Parameters(decoding: bytes) else { return .refused }
            try require(parameters.encoded() == bytes, "parameters have one way to be written")
            guard parameters.isBounded else { return .refused }
            try require(128 * parameters.cost.n * parameters.cost.r <= Passphrase.memoryLimit, "memory is bounded")
            return .accepted
        },
        FuzzTarget(name: "vault-value") { bytes throws(Violation) in
            guard let value = LargeValue(decoding: SecretBytes(bytes)) else { return .refused }
            try require((2...256).contains(value.pieceCount), "a value in pieces has some, and not many")
            try require(value.encoded() == SecretBytes(bytes), "the content of a value has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "vault-export") { bytes throws(Violation) in
            var rest = bytes[...]
            let header: ExportHeader
            var plainBytes = 0
            do throws(any Error) {
                header = try ExportHeader(from: { take($0, of: &rest) }, of: "export")
                let secret = SecretBytes([UInt8](repeating: 1, count: 32))
                let pieces = try ExportPieces(header, secret, of: "export", from: { take($0, of: &rest) })
                while let piece = try pieces.next() { plainBytes += piece.count }
            } catch {
                return .refused
            }
            try require(bytes.starts(with: header.bytes), "a header is what the file begins with")
            try require(rest.isEmpty && plainBytes < bytes.count, "an export is read to its end")
            return .accepted
        },
        FuzzTarget(name: "vault-export-records") { bytes throws(Violation) in
            var rest = bytes[...]
            var writer = FieldWriter(purpose: ExportFile.purpose)
            var count = 0
            do throws(any Error) {
                // Smaller than real ones, so that records lie across them.
                var records = try ExportRecords(
                    of: "export", from: { rest.isEmpty ? nil : SecretBytes(take(7, of: &rest)) })
                while let record = try records.next() {
                    count += 1
                    for text in [record.name.scope, record.name.name, record.kind.rawValue] { writer.append(text) }
                    var content = record.content?.exposed() ?? []
                    while let part = try records.part() { content += part.exposed() }
                    writer.append(content)
                }
            } catch {
                return .refused
            }
            try require(count <= ManifestRoot.recordLimit, "an export has a bounded number of records")
            try require(writer.bytes == bytes, "records have one way to be written")
            return .accepted
        },
        FuzzTarget(name: "passcode-policy") { bytes throws(Violation) in
            guard let json = try? JSON(parsing: bytes), let policy = try? PasscodePolicy(json) else { return .refused }
            try require((try? PasscodePolicy(policy.json)) == policy, "rules that were read are written the same")
            // A passcode of 256 characters breaks none of the limits of length.
            let longest = SecretBytes((0..<256).map { UInt8(0x21 + $0 % 94) })
            try require(policy.fault(of: longest) != .short, "no rule demands more than a passcode may have")
            return .accepted
        },
        FuzzTarget(name: "passcode-policy-of-server") { bytes throws(Violation) in
            guard let json = try? JSON(parsing: bytes), let policy = try? PasscodePolicy(server: json) else {
                return .refused
            }
            try require((try? PasscodePolicy(policy.json)) == policy, "a server's rules are some of ours")
            return .accepted
        },
        FuzzTarget(name: "passcode") { bytes throws(Violation) in
            guard let passcode = try? Passcode(SecretBytes(bytes)) else { return .refused }
            guard let again = try? Passcode(passcode.secret) else {
                // Composed, a character may need more bytes than as it was entered.
                try require(passcode.secret.count > Passcode.byteLimit, "a normal form is a passcode")
                return .accepted
            }
            try require(again.secret == passcode.secret, "a normal form is normal")
            return .accepted
        },
    ]

    /// The next bytes, or fewer at the end.
    private static func take(_ count: Int, of rest: inout ArraySlice<UInt8>) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
