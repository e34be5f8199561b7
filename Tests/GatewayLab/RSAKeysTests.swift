import Cryptography
import Synchronization
import Testing

@testable import GatewayLab

extension GatewayLabTests {
    @Suite("RSA keys of labs")
    struct RSAKeysTests {
        @Test("RSA keys of a lab are used again once it is gone, never by another lab of that time or the next")
        func reused() throws {
            let made = Counter()
            // Elliptic keys, which are made at once.
            let stock = KeyStock {
                made.count.add(1, ordering: .relaxed)
                return try PrivateKey(generating: .p256)
            }
            var before: Set<[UInt8]> = []
            for _ in 1...10 {
                let (lab, other) = (RSAKeys(from: stock), RSAKeys(from: stock))
                let keys = try withExtendedLifetime((lab, other)) {
                    Set(try [lab.take(), lab.take(), other.take()].map(\.publicKey.spki))
                }
                #expect(keys.count == 3)
                #expect(keys.isDisjoint(with: before))
                before = keys
            }
            // Of the thirty that were taken.
            #expect(made.count.load(ordering: .relaxed) == KeyStock.spare + 3)
        }
    }
}

private final class Counter: Sendable {
    let count = Atomic(0)
}
