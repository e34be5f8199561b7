import Foundation
import Groundwork
import TestSupport
import Testing

@testable import AgentCore
@testable import AgentInstallation

@Suite("The header of a sealed credential")
struct CredentialHeaderTests {
    /// As systemd's source has them.
    private enum Kind: String, CaseIterable {
        case host = "5a1c6a86df9d4096b1d5a65e0862f19a"
        case none = "058469daf6f54324800549da0f8ea2fb"
        case tpm = "0c7cc07b117645919c4b0bea08bc20fe"
        case tpmAndPublicKey = "faf7eb9341e3412ca1a436f95a29362f"
        case hostAndTPM = "93a894094874449090caf2fc93cab553"
        case hostAndTPMAndPublicKey = "af4950a849134eb1a73846304ff30c05"

        var hasTPM: Bool { self != .host && self != .none }
    }

    private static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// - Parameter sizes: of key, block, nonce and tag.
    private static func credential(
        _ kind: Kind, mask: UInt64 = 0, sizes: [UInt64] = [32, 1, 12, 16], nonce: Int = 12
    ) throws -> [UInt8] {
        var bytes = try #require(Hex.decode(kind.rawValue))
        for size in sizes { bytes += number(size, 4) }
        bytes += [UInt8](repeating: 7, count: nonce)
        bytes += [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
        if kind.hasTPM {
            // The mask; SHA-256, ECC, and the sizes of what follows.
            bytes += number(mask, 8) + number(11, 2) + number(0x23, 2) + number(4, 4) + number(32, 4)
            bytes += [UInt8](repeating: 8, count: 36)
        }
        return bytes + [UInt8](repeating: 9, count: 64)
    }

    @Test("a sealed credential says which registers of the TPM must keep their values, in base64 and without")
    func registers() throws {
        for kind in Kind.allCases {
            let bytes = try Self.credential(kind, mask: 1 << 7 | 1 << 0 | 1 << 23)
            let registers = kind.hasTPM ? [0, 7, 23] : []
            #expect(CredentialHeader(bytes)?.registers == registers, "\(kind)")
            let text = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed]) + "\n"
            #expect(CredentialHeader(Array(text.utf8))?.registers == registers, "\(kind)")
            #expect(CredentialHeader(try Self.credential(kind))?.registers == [])
        }
        // A nonce that ends at 8 bytes is not filled up.
        let even = try Self.credential(.tpm, mask: 1 << 7, sizes: [32, 1, 16, 16], nonce: 16)
        #expect(CredentialHeader(even)?.registers == [7])
    }

    @Test("a file that is no sealed credential, or one of an unknown kind or with impossible sizes, is not read as one")
    func refused() throws {
        let whole = try Self.credential(.tpm, mask: 1 << 7)
        for count in 0..<56 { #expect(CredentialHeader(Array(whole.prefix(count))) == nil, "\(count)") }
        #expect(CredentialHeader(Array(whole.prefix(56)))?.registers == [7])
        for sizes in [
            [31, 1, 12, 16], [32, 0, 12, 16], [32, 16_385, 12, 16], [32, 1, 16_385, 16], [32, 1, 0xFFFF_FFFF, 16],
            [32, 1, 12, 15],
        ] as [[UInt64]] { #expect(CredentialHeader(try Self.credential(.tpm, sizes: sizes)) == nil, "\(sizes)") }
        #expect(CredentialHeader(try Self.credential(.tpm, mask: 1 << 24)) == nil)
        #expect(CredentialHeader([1] + whole.dropFirst()) == nil)
        #expect(CredentialHeader(Array("not a credential".utf8)) == nil)
        #expect(CredentialHeader(whole + [UInt8](repeating: 0, count: CredentialHeader.limit)) == nil)
    }

    @Test("a credential that systemd-creds has sealed by the host's key is read", .enabled(if: Self.canSeal))
    func real() async throws {
        let sealed = try await Program.found.run(Self.sealing)
        #expect(sealed.status == 0)
        #expect(CredentialHeader(Array(sealed.output.utf8))?.registers == [])
    }

    private static let sealing = [
        "systemd-creds", "encrypt", "--with-key=host", "--tpm2-pcrs=", "--name=latchkey-vault", "/etc/hostname", "-",
    ]
    /// The host's key belongs to root.
    private static let canSeal =
        geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-creds")
        && FileManager.default.fileExists(atPath: "/var/lib/systemd/credential.secret")

    @Test("the doctor of root adds a bound credential to what an agent says that answers")
    func completed() throws {
        var installation = Installation(socketPath: "", settings: .init())
        installation.credentialFile = "/c"
        let report: JSON = ["worst": "pass", "checks": [["name": "clock", "verdict": "pass", "message": "fine"]]]
        #expect(InstallationDoctor.completed(report, by: installation) == report)
        installation.credentialHeader = CredentialHeader(try Self.credential(.tpm, mask: 1 << 7))
        let bound = InstallationDoctor.completed(report, by: installation)
        #expect(bound["worst"] == "warn" && bound["checks"]?.array?.count == 2)
        #expect(bound["checks"]?.array?.last?["name"] == "credential-binding")
        let failing: JSON = ["worst": "fail", "checks": []]
        #expect(InstallationDoctor.completed(failing, by: installation)["worst"] == "fail")
        installation.credentialHeader = CredentialHeader(try Self.credential(.host))
        #expect(InstallationDoctor.completed(report, by: installation)["worst"] == "pass")
    }
}
