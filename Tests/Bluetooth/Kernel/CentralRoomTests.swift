import Testing

@testable import Bluetooth

@Suite("Room for another central")
struct CentralRoomTests {
    private func central(_ number: Int, wrote: Bool, silentFor seconds: Int) -> (
        CentralID, Bool, ContinuousClock.Instant
    ) {
        (
            CentralID(address: BluetoothAddress("C0:FF:EE:00:00:0\(number)", kind: .random)!, number: number), wrote,
            ContinuousClock.now - .seconds(seconds)
        )
    }

    @Test(
        "room for another central is made by the longest silent central that has never written"
    )
    func eviction() {
        let centrals = [
            central(1, wrote: true, silentFor: 25), central(2, wrote: false, silentFor: 3),
            central(3, wrote: false, silentFor: 9),
        ]
        #expect(KernelPeripheral.dispensable(centrals)?.number == 3)
        #expect(KernelPeripheral.dispensable([centrals[0], centrals[1]])?.number == 2)
        #expect(KernelPeripheral.dispensable([centrals[0]]) == nil)
        #expect(KernelPeripheral.dispensable([]) == nil)
    }
}
