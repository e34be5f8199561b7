import Foundation
import GatewayLab
import TestSupport
import Testing

extension LocalAPITests {
    @Test("streams of the local API whose readers never read cost a bounded amount of memory")
    func unreadStreams() async throws {
        try await withLabAndBoard(board: try reachableBoard()) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let process = try #require(board.daemon?.processIdentifier)
            let before = try Weight(of: process)
            let watcher = Task {
                var most = 0
                while !Task.isCancelled {
                    most = max(most, try Weight(of: process).anonymousKilobytes)
                    try? await Task.sleep(for: .milliseconds(20))
                }
                return most
            }
            try await attack(board, "unread")
            watcher.cancel()
            let most = try await watcher.value
            print("before: \(before), at most \(most) kB")
            if !Program.isSanitized { #expect(most < before.anonymousKilobytes + 8192) }
            #expect(kill(process, 0) == 0)
        }
    }
}
