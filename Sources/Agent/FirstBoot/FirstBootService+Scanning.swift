import Board
import Groundwork
import Synchronization

extension FirstBootService {
    private static let restOfScanner = Duration.seconds(5)

    /// Tries scanned codes, only the newest at a time, until one is taken.
    func scan(_ name: String) async -> WaitingEnrollment? {
        let (texts, text) = AsyncStream.makeStream(of: WaitingEnrollment.self, bufferingPolicy: .bufferingNewest(1))
        return await withTaskGroup(of: WaitingEnrollment?.self) { group in
            group.addTask {
                await read(CodeScanner(name: name), name, into: text)
                return nil
            }
            group.addTask {
                let tried = TriedCode()
                var attempt: Task<Bool, Never>?
                for await waiting in texts {
                    // Scanners read a code again while it is before them; its URL may have been used by now.
                    if tried.content == waiting.content { continue }
                    attempt?.cancel()
                    if await attempt?.value == true { break }
                    tried.content = waiting.content
                    attempt = Task {
                        let isTaken = await take(waiting)
                        if isTaken { text.finish() } else { tried.content = nil }
                        return isTaken
                    }
                }
                if Task.isCancelled { attempt?.cancel() }
                return await attempt?.value == true
                    ? WaitingEnrollment(source: .scanner, content: []) : nil
            }
            var taken: WaitingEnrollment?
            for await one in group {
                taken = taken ?? one
                group.cancelAll()
            }
            return taken
        }
    }

    /// The code that is being tried.
    private final class TriedCode: Sendable {
        private let state = Mutex<[UInt8]?>(nil)

        var content: [UInt8]? {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// Reads the scanner for as long as it takes; it may be plugged in later.
    private func read(
        _ scanner: CodeScanner, _ name: String, into texts: AsyncStream<WaitingEnrollment>.Continuation
    ) async {
        var reported: String?
        while !Task.isCancelled {
            do {
                try await scanner.run {
                    reported = nil
                    if agent.firstBoot.now == nil || agent.firstBoot.now?.stage == .scanning {
                        agent.firstBoot.now = FirstBootProgress(stage: .scanning, place: name)
                    }
                    agent.report(.firstBoot(.scannerReady))
                } _: { scan in
                    switch scan {
                    case .text(let text):
                        texts.yield(WaitingEnrollment(source: .scanner, content: Array(text.utf8)))
                    case .tooLong: refuse(scanFor: "it is too long")
                    case .incomplete: refuse(scanFor: "a part of it was lost; show it again")
                    }
                }
            } catch {
                guard !Task.isCancelled else { return }
                let message = Explanation(of: error).message
                if message != reported { agent.report(.firstBoot(.scannerFailed(error))) }
                if agent.firstBoot.now == nil || agent.firstBoot.now?.stage == .scanning {
                    agent.firstBoot.now = FirstBootProgress(
                        stage: .scanning, place: name, problem: error.explanation)
                }
                reported = message
                try? await Task.sleep(for: Self.restOfScanner)
            }
        }
    }

    private func refuse(scanFor reason: String) {
        refuse("the scanned code", FirstBootError.malformed(place: "the scanned code", reason: reason))
    }
}
