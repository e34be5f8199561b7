import Cryptography
import Foundation
import Synchronization
import TestSupport

@testable import Vault

/// A token of SoftHSM for one test.
struct SoftwareToken {
    let label: String
    let desk: Desk
    let module: TokenModule
    let offered = PINs()

    /// - Parameter module: another module that reaches the same tokens.
    init(module: TokenModule = SoftHSM.shared.module) throws {
        label = try SoftHSM.shared.takeToken()
        desk = try Desk()
        self.module = module
    }

    /// The PINs that are given, and how often.
    final class PINs: Sendable {
        let asked = Counter()
        private let current = Mutex<String?>(SoftHSM.pin)

        func set(_ pin: String?) { current.withLock { $0 = pin } }
        func give() -> SecretBytes? {
            asked.next()
            return current.withLock { $0 }.map { SecretBytes(utf8: $0) }
        }
    }

    var uri: TokenURI {
        var uri = TokenURI()
        uri.token = label
        return uri
    }

    var memoryPath: String { desk.directory + "/pins" }

    /// The token as a program sees it that has just started.
    func token(_ module: TokenModule? = nil) -> Token {
        Token(uri, module: module ?? self.module, memory: PINMemory(path: memoryPath)) { offered.give() }
    }

    func keys(_ module: TokenModule? = nil, vaultID: [UInt8] = vaultID) -> VaultsKeys {
        VaultsKeys(keys: TokenKeys(token(module)), vaultID: vaultID)
    }

    static let vaultID = [UInt8](repeating: 0xA5, count: 16)

    func named(_ object: String) -> TokenURI {
        var uri = uri
        uri.object = object
        return uri
    }

    /// What OpenSC's tool says, logged in.
    @discardableResult
    func tool(_ arguments: String...) throws -> String {
        try tool(arguments)
    }

    @discardableResult
    func tool(_ arguments: [String]) throws -> String {
        let fixed = [
            "pkcs11-tool", "--module", SoftHSM.library, "--token-label", label, "--login", "--pin", SoftHSM.pin,
        ]
        return try SoftHSM.shared.run(fixed + arguments)
    }

    /// Makes a key by OpenSC's tool.
    func make(_ label: String, _ type: String, _ further: String...) throws {
        try tool(["--keypairgen", "--key-type", type, "--label", label, "--id", "01"] + further)
    }
}

/// The keys of one vault on a token.
struct VaultsKeys {
    let keys: TokenKeys
    let vaultID: [UInt8]

    func make(_ algorithm: PrivateKey.Algorithm, name: String) throws(VaultError) -> KeptKey {
        try keys.make(algorithm, name: name, of: vaultID)
    }
    func adopt(_ uri: TokenURI) throws(VaultError) -> KeptKey { try keys.adopt(uri) }
    func signer(of key: KeptKey) throws(VaultError) -> any ForeignKey { try keys.signer(of: key) }
    func destroy(_ key: KeptKey) throws(VaultError) { try keys.destroy(key, of: vaultID) }
    func orphans(known: [KeptKey]) throws(VaultError) -> [KeptKey] { try keys.orphans(of: vaultID, known: known) }
}
