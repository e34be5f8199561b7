import Cryptography
import Synchronization

/// The RSA keys of one lab, or of a board that is tested, which are free for others of the process when this is
/// released. A lab whose keys are kept on the disk makes them itself.
package final class RSAKeys: Sendable {
    private let stock: KeyStock
    private let taken = Mutex<[PrivateKey]>([])

    init(from stock: KeyStock) { self.stock = stock }
    package convenience init() { self.init(from: .shared) }

    deinit { stock.giveBack(taken.withLock { $0 }) }

    /// - Throws: `CryptographyError`
    package func take() throws -> PrivateKey {
        let key = try stock.take()
        taken.withLock { $0.append(key) }
        return key
    }
}

/// Keys that are used again, since making one costs more than everything else that a short lab does. Two labs at a time
/// never have the same.
final class KeyStock: Sendable {
    static let shared = KeyStock { try PrivateKey(generating: .rsa(bits: 2048)) }

    /// So many keys stay free: labs that follow each other do not have the same key, as if one were the other.
    static let spare = 4
    /// Those that were given back first are at the front.
    private let free = Mutex<[PrivateKey]>([])
    private let make: @Sendable () throws -> PrivateKey

    init(make: @escaping @Sendable () throws -> PrivateKey) { self.make = make }

    func take() throws -> PrivateKey {
        try free.withLock { $0.count > Self.spare ? $0.removeFirst() : nil } ?? make()
    }

    func giveBack(_ keys: [PrivateKey]) { free.withLock { $0 += keys } }
}
