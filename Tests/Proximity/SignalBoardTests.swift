import Bluetooth
import TestSupport
import Testing

@testable import Proximity

@Suite("The board of signals")
struct SignalBoardTests {
    private func near(_ board: inout SignalBoard, _ number: UInt8, _ rssi: Int) -> SignalBoard.Outcome {
        board.see(Sighting(address: address(number), rssi: rssi))
    }

    @Test("the board of signals takes a signal that only just reaches the least (MAG 8.3)")
    func least() {
        var board = SignalBoard(least: -80)
        #expect(near(&board, 1, -81) == .far(.init(address: address(1), name: nil, signal: -81)))
        #expect(near(&board, 2, -80) == .near(.init(address: address(2), name: nil, signal: -80)))
        #expect(board.nearest.map(\.address) == [address(2)])
    }

    @Test("the board of signals goes by the median of the last five, not by one lucky sighting")
    func median() {
        var board = SignalBoard(least: -70)
        for rssi in [-90, -91, -50, -92] { _ = near(&board, 1, rssi) }
        #expect(board.nearest.isEmpty)
        for rssi in [-60, -61, -62] { _ = near(&board, 1, rssi) }
        #expect(board.nearest.map(\.signal) == [-61])
        #expect(SignalBoard.median([-50, -90]) == -90, "who is in doubt is farther away")
    }

    @Test("the board of signals puts the nearest first, and of equals the one seen first")
    func order() {
        var board = SignalBoard(least: -80)
        for (number, rssi) in [(UInt8(1), -70), (2, -40), (3, -70), (4, -60)] { _ = near(&board, number, rssi) }
        #expect(board.nearest.map(\.address) == [address(2), address(4), address(1), address(3)])
    }

    @Test("the board of signals reports a device once when it comes near")
    func once() {
        var board = SignalBoard(least: -80)
        _ = near(&board, 1, -90)
        #expect(near(&board, 1, -90) == .known)
        #expect(near(&board, 1, -50) == .known)
        #expect(near(&board, 1, -50) == .known)
        #expect(near(&board, 1, -50) == .near(.init(address: address(1), name: nil, signal: -50)))
        #expect(near(&board, 1, -50) == .known)
    }

    @Test("the board of signals puts devices of unknown strength last, and leaves far ones out")
    func unknown() {
        var board = SignalBoard(least: -80)
        let (silent, weak, far) = (address(1), address(2), address(3))
        #expect(
            board.see(Sighting(address: silent, rssi: 127)) == .near(.init(address: silent, name: nil, signal: 127)))
        #expect(board.see(Sighting(address: silent, rssi: 127)) == .known)
        _ = board.see(Sighting(address: weak, rssi: -80))
        _ = board.see(Sighting(address: far, rssi: -81))
        _ = board.see(Sighting(address: far, rssi: 127))
        #expect(board.nearest.map(\.address) == [weak, silent])
    }

    @Test("the board of signals remembers at most 64 devices, and names fit to be shown")
    func bounds() {
        var board = SignalBoard(least: -80)
        for number in 0..<100 { _ = board.see(Sighting(address: address(UInt8(number)), rssi: -50, name: "a\u{7}b")) }
        #expect(board.nearest.count == 64)
        #expect(board.nearest.allSatisfy { $0.name == "ab" })
    }
}
