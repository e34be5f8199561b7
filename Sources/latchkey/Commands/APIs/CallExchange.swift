import Groundwork
import LocalAPI

/// A call whose body and answer pass in pieces, neither of them whole in memory.
struct CallExchange {
    let client: LocalClient
    let path: String
    let asJSON: Bool
    let showsHead: Bool
    /// The file that the answer goes to.
    let output: String?
    /// Asks what the daemon asks during the call; `nil` without a person at a terminal.
    let prompts: CallPrompts?

    /// The most bytes of an answer that is printed as JSON.
    private static let collectedLimit = 10 << 20

    /// - Returns: the HTTP status of the answer.
    func run(
        _ request: [String: JSON], sending source: BodySource?, to download: inout Download?
    ) async throws -> Int64 {
        do {
            let status = try await exchange(request, sending: source, to: &download)
            await prompts?.end()
            return status
        } catch {
            download?.abandon()
            await prompts?.end()
            throw error
        }
    }

    private func exchange(
        _ request: [String: JSON], sending source: BodySource?, to download: inout Download?
    ) async throws -> Int64 {
        let records = client.records(path, posting: .object(request), as: .frames)
        var answer = Answer(asJSON: asJSON)
        var sender: Task<Void, Never>?
        defer { sender?.cancel() }
        // Until anything comes: then there is a question, or progress of its own.
        var next = try await ProgressLine.show("waiting for the answer") { try await records.next() }
        while let batch = next {
            for bytes in batch {
                switch try LocalRecord(bytes, in: .frames) {
                case .message(let piece): try answer.take(Array(piece), download)
                case .event(let event) where event.name == "upload":
                    // Again, after a refusal that was recovered from: from the first byte.
                    sender?.cancel()
                    let id = event.data["id"]?.string ?? ""
                    sender = source.map { source in Task { await send(source, as: id) } }
                case .event(let event) where event.name.hasPrefix("prompt."): try prompts?.take(event)
                case .event(let event) where event.name == "response":
                    await prompts?.end()
                    try begin(event.data, &answer, &download)
                case .event(let event) where event.name == "end": answer.isComplete = true
                case .event: break
                }
            }
            next = try await records.next()
        }
        answer.progress.clear()
        answer.showRest()
        guard answer.isComplete else { throw LocalAPIError.noAnswer(reason: "it ended in the middle") }
        return try finish(answer, &download)
    }

    private func begin(_ head: JSON, _ answer: inout Answer, _ download: inout Download?) throws {
        answer.head = head
        if showsHead, !asJSON {
            Terminal.line("HTTP \(answer.status)")
            for field in head["headers"]?.array ?? [] {
                Terminal.line(
                    Terminal.standardOutput.shown("\(field["name"]?.string ?? ""): \(field["value"]?.string ?? "")"))
            }
            Terminal.line()
        }
        try download?.begin(answer.status)
        let length = head["headers"]?.array?.first { $0["name"]?.string?.lowercased() == "content-length" }
        answer.total = length?["value"]?.string.flatMap { Int64($0) }
    }

    private func finish(_ answer: Answer, _ download: inout Download?) throws -> Int64 {
        let isInFile = download?.isOpen == true
        if isInFile {
            try download?.finish()
        } else if !asJSON, Terminal.standardOutput.isTerminal, answer.endsInsideLine {
            Terminal.line()
        }
        if asJSON {
            var members = answer.head.object ?? [:]
            if let output, isInFile {
                members["file"] = .string(output)
                members["bytes"] = .integer(answer.count)
            } else {
                members["body"] = .string(Base64.encode(answer.collected))
                members["text"] = String(validating: answer.collected, as: UTF8.self).map(JSON.string)
            }
            Terminal.json(.object(members))
        } else if let meaning = answer.head["error"]?["message"]?.string {
            Terminal.error("latchkey: \(Terminal.withoutControls(meaning))")
        }
        return answer.status
    }

    /// Sends the body. What fails at the daemon appears in its stream too.
    private func send(_ source: BodySource, as id: String) async {
        var (progress, sent) = (Progress(), 0)
        let length = source.length
        do {
            try await source.forEachPiece { piece in
                guard !Task.isCancelled else { return false }
                let answer = try await client.post("/v1/call/uploads/\(id)", text: piece, timeout: .seconds(600))
                sent += piece.count
                progress.show("\(Amount.bytes(Double(sent))) of \(Amount.bytes(Double(length))) sent …")
                return answer["taken"]?.bool == true
            }
            progress.clear()
        } catch let error as InputError {
            progress.clear()
            // The daemon sees that this program is gone, and ends the call.
            Failure(error, asJSON: asJSON).exit()
        } catch {
            progress.clear()
        }
    }

    /// What has come of the answer.
    private struct Answer {
        let asJSON: Bool
        var head = JSON.object([:])
        var collected: [UInt8] = []
        /// Of the part of the body that is there.
        var count: Int64 = 0
        var total: Int64?
        var isComplete = false
        var endsInsideLine = false
        private var pieces = Terminal.Pieces()
        var progress = Progress()

        init(asJSON: Bool) { self.asJSON = asJSON }

        var status: Int64 { head["status"]?.integer ?? 0 }

        mutating func showRest() { Terminal.bytes(pieces.rest()) }

        mutating func take(_ piece: [UInt8], _ download: Download?) throws {
            count += Int64(piece.count)
            if let download, download.isOpen {
                try download.write(piece)
                let of = total.map { " of \(Amount.bytes(Double($0)))" } ?? ""
                progress.show("\(Amount.bytes(Double(count)))\(of) received …")
            } else if asJSON {
                collected += piece
                guard collected.count <= collectedLimit else {
                    throw InputError.tooLong(name: "the answer", limit: collectedLimit)
                }
            } else {
                Terminal.bytes(Terminal.standardOutput.isTerminal ? pieces.take(piece) : piece)
                endsInsideLine = piece.last != UInt8(ascii: "\n")
            }
        }
    }
}
