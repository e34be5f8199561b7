import Cryptography
import Dispatch
import Synchronization
import TestSupport

@testable import Vault

/// A slot key that keeps its thread, as a slow chip does, until the test lets it go.
final class HeldKey: SlotKey {
    let kind = Slot.Kind(rawValue: "held")
    /// Opens when the thread is held.
    let isHeld = Gate()
    private let free: Mutex<Int>
    private let end = DispatchSemaphore(value: 0)

    /// - Parameter free: how often it is given at once before it is held.
    init(free: Int = 0) { self.free = Mutex(free) }

    func letGo() { end.signal() }

    func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8]) {
        (try await wrappingKey(from: []), [])
    }

    func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
        hold()
        return SecretBytes([UInt8](repeating: 2, count: 32))
    }

    private func hold() {
        let isFree = free.withLock { free in
            defer { free -= 1 }
            return free > 0
        }
        guard !isFree else { return }
        isHeld.open()
        end.wait()
    }
}
