import FoundationEssentials
import Glibc
import Groundwork
import LocalAPI
import Vault

/// The check of everything that a vault has.
extension VaultFeature {
    func addVerificationRoute(to router: inout Router) {
        router.on(
            "POST", "/v1/vault/verify", needs: .operate,
            .init("Check everything in the sealed store, beside everything else", answer: Verification.answer.schema())
        ) { _ in
            let found = try await self.host.vault.verify()
            if let first = found.faults.first {
                self.host.report(VaultEvent.damageFound(faults: found.faults.count, first: first))
            }
            return .json(Verification.answer.json(found))
        }
    }
}

/// The check of a copy of a vault, which needs no key and no agent.
package enum VaultCopy {
    /// Checks a file that no agent has open, as far as that goes without a key.
    ///
    /// - Returns: as `POST /v1/vault/verify` answers.
    /// - Throws: ``VaultCopyError``
    package static func verify(_ path: String) throws(VaultCopyError) -> JSON {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(base)/latchkey-verify-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .noRoom(folder: base, reason: String(cString: strerror(errno)))
        }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            for suffix in ["-wal", "-shm", "-journal", ""] { unlink("\(folder)/vault.db\(suffix)") }
            rmdir(folder)
        }
        do {
            return Verification.answer.json(try Vault.verification(of: path, copiedInto: folder))
        } catch {
            throw .vault(error, path: path, copy: "\(folder)/vault.db")
        }
    }
}

/// Why a copy of a vault was not checked, or is damaged as a whole.
package enum VaultCopyError: Explained, Equatable {
    /// The file cannot be copied to be examined.
    case noRoom(folder: String, reason: String)
    case vault(VaultError, path: String, copy: String)

    package var explanation: Explanation {
        switch self {
        case .noRoom(let folder, let reason):
            return Explanation(
                "vault.no-room-to-examine", .unavailable, "cannot copy the vault into \(folder): \(reason)",
                remedy: "name a folder with room for it in the environment variable TMPDIR")
        case .vault(let error, let path, let copy):
            let found = error.explanation
            return Explanation(
                found.code, found.kind, found.message.replacing(copy, with: path),
                remedy: "check that it is the vault's file, or use another copy")
        }
    }

    package static let examples: [VaultCopyError] = [
        .noRoom(folder: "FOLDER", reason: "REASON"),
        .vault(.missing(path: "COPY"), path: "PATH", copy: "COPY"),
    ]
}

extension Verification {
    fileprivate static let answer: Answer<Verification> = [
        "faults": .schema(
            .array(
                of: .object(all: [
                    "fault": .string("such as record-damaged"),
                    "name": .string("of the record, or number of the page, slot or key"),
                ]), "what is wrong, at most \(faultLimit)")
        ) { found in
            JSON.array(found.faults.map { ["fault": .string($0.identifier), "name": .string($0.name)] })
        },
        "contentsChecked": .of("whether records were opened; a copy is checked without its key") {
            $0.areContentsChecked
        },
        "cutShort": .of("whether there may be more faults than are listed") { $0.isCutShort },
        "records": .of("records that were checked") { $0.records },
        "pages": .of("pages of their list") { $0.pages }, "slots": .of("slots") { $0.slots },
        "keys": .of("keys that seal the records") { $0.keys },
    ]
}
