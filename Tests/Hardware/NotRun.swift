import Foundation
import Groundwork
import TestSupport
import Testing

/// Why nothing of Latchkey could be tested on a board: what it needs of others did not hold.
struct NotRun: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }

    /// - Returns: `nil` if the precondition held.
    init?(_ ended: VirtualBoard.Ended) {
        switch ended.status {
        // Of `virtual-board` itself: the board failed before the script began, or something is missing here.
        case 125 where !ended.output.contains(#""event":"step""#), 126:
            reason = ended.errors.split(separator: "\n").suffix(3).joined(separator: "; ")
        // Of `given` in `steps.sh`.
        case 75:
            let log = ended.output.split(separator: "\n").compactMap { try? JSON(parsing: $0.utf8) }
            func last(_ event: String) -> String {
                log.last { $0["event"]?.string == event }?["name"]?.string ?? "unknown"
            }
            reason = "in vain: \(last("unmet")); waited for: \(last("missed"))"
        default: return nil
        }
    }

    /// Tells `deploy/test`, which counts the test as not run.
    func report(_ test: Test) {
        let suite = String(test.sourceLocation.fileName.prefix { $0 != "." && $0 != "+" })
        let line = [suite, test.displayName ?? test.name, reason].map { DisplayText.oneLine($0) }
        guard let path = ProcessInfo.processInfo.environment["LATCHKEY_NOT_RUN"],
            let file = fopen(path, "ae")
        else { return print("not run: \(line.joined(separator: ": "))") }
        fputs(line.joined(separator: "\t") + "\n", file)
        fclose(file)
    }
}

/// A test that boots a virtual board: it is not run where there is none, or where what it needs of others does not hold.
struct NeedsBoard: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if let missing = VirtualBoard.missing { return NotRun(missing).report(test) }
        do {
            try await function()
        } catch let error as NotRun {
            error.report(test)
        }
    }
}

extension Trait where Self == NeedsBoard {
    static var needsBoard: Self { NeedsBoard() }
}
