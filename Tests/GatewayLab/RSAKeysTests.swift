import Cryptography
import Synchronization
import Testing

@testable import GatewayLab

extension GatewayLabTests {
    @Suite("RSA keys of labs")
    struct RSAKeysTests {
        @Test("are used again once their lab is gone, but neither by another lab of that time nor by the next one")
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
