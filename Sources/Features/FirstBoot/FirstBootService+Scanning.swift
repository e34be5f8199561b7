import AgentCore
import Board
import Groundwork

extension FirstBootService {
    private static let restOfScanner = Duration.seconds(5)

    /// Tries scanned codes until one is taken.
    func scan(_ name: String) async -> WaitingEnrollment? {
        let codes = ScannedCodes()
        return await withTaskGroup(of: WaitingEnrollment?.self) { group in
            group.addTask {
                await read(CodeScanner(name: name), name, into: codes)
                return nil
            }
            group.addTask { await takeOne(of: codes) }
            var taken: WaitingEnrollment?
            for await one in group {
                taken = taken ?? one
                group.cancelAll()
            }
            return taken
        }
    }

    /// Tries one after another, always the newest, until one is taken.
    func takeOne(of codes: ScannedCodes) async -> WaitingEnrollment? {
        while let code = await codes.next() {
            if await take(code, of: codes) { return code }
        }
        return nil
    }

    /// Reads the scanner for as long as it takes; it may be plugged in later.
    private func read(_ scanner: CodeScanner, _ name: String, into codes: ScannedCodes) async {
        var reported: String?
        while !Task.isCancelled {
            do {
                try await scanner.run {
                    reported = nil
                    noteScanning(FirstBootProgress(stage: .scanning, place: name))
                    boot.host.report(FirstBootEvent.scannerReady)
                } _: { scan in
                    switch scan {
                    case .text(let text): receive(text, into: codes)
                    case .tooLong: refuseScan("it is too long")
                    case .incomplete: refuseScan("a part of it was lost; show it again")
                    }
                }
            } catch {
                guard !Task.isCancelled else { return }
                let message = Explanation(of: error).message
                if message != reported { boot.host.report(FirstBootEvent.scannerFailed(error)) }
                noteScanning(FirstBootProgress(stage: .scanning, place: name, problem: error.explanation))
                reported = message
                try? await Task.sleep(for: Self.restOfScanner)
            }
        }
    }

    /// Not over what became of an enrollment.
    private func noteScanning(_ progress: FirstBootProgress) {
        let now = boot.progress.now
        if now == nil || now?.stage == .scanning { boot.progress.note(progress) }
    }

    /// Takes note of a text that was scanned. One that is not an enrollment, such as a product's barcode, is refused,
    /// and does not touch what is being tried.
    func receive(_ text: String, into codes: ScannedCodes) {
        let code = WaitingEnrollment(source: .scanner, content: Array(text.utf8))
        do {
            _ = try EnrollmentContent(parsing: code.content, of: code.place)
            codes.add(code)
        } catch {
            refuseScan(of: code.place, error)
        }
    }

    private func refuseScan(_ reason: String) {
        let place = WaitingEnrollment(source: .scanner, content: []).place
        refuseScan(of: place, FirstBootError.malformed(place: place, reason: reason))
    }

    /// - Parameter place: of a code that is not tried at all.
    private func refuseScan(of place: String, _ error: any Error) {
        boot.progress.note(FirstBootProgress(stage: .refused, place: place, problem: error.explanation))
        boot.host.report(FirstBootEvent.refused(place: place, error))
    }
}
