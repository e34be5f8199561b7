import AgentCore
import Glibc
import Groundwork
import Settings

/// Reads and wipes waiting enrollments where only root may: boot partitions are root's, and a credential's file is.
/// systemd starts it for each connection to its socket (latchkey-first-boot.socket); it has no network and no secrets.
///
/// The agent says neither a path nor what to write: the paths are those of settings that only root can write, what is
/// read is answered only if it is an enrollment, and a file is removed only if it has the content with the hash that
/// the agent names.
package enum FirstBootHelper {
    static let socket = "/run/latchkey-first-boot.sock"
    private static let requestLimit = 512
    /// How long the agent may take to send its request.
    private static let patience = timeval(tv_sec: 10, tv_usec: 0)

    /// Serves the connection on standard input.
    ///
    /// - Parameter settings: the path of the settings file; `nil` for the usual one.
    package static func serve(settings: String?, of features: [any Feature.Type]) {
        var patience = Self.patience
        guard
            setsockopt(STDIN_FILENO, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size)) == 0,
            let request = receive(), let answer = try? answer(to: request, settings: settings, of: features).bytes
        else { return }
        var sent = 0
        while sent < answer.count {
            let count = answer.withUnsafeBytes {
                send(STDIN_FILENO, $0.baseAddress! + sent, answer.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 || errno == EINTR else { return }
            sent += max(count, 0)
        }
    }

    /// - Parameter settings: the path of the settings file; `nil` for the usual one.
    /// - Throws: ``ConfigurationError`` of settings with faults.
    static func answer(
        to request: [UInt8], settings: String?, of features: [any Feature.Type]
    ) throws(ConfigurationError) -> JSON {
        let setting: String
        do throws(ConfigurationError) {
            // No other user may name a file that root reads.
            setting = try AgentConfiguration(SettingsLayers.read(settings, onlyOfRoot: true), of: features)[
                FirstBootSettings.self
            ].file
        } catch .writableByOthers(let path) {
            return ["fault": .string(ConfigurationError.writableByOthers(path: path).message)]
        }
        return answer(to: request, files: EnrollmentFile.paths(setting))
    }

    /// - Parameter request: one JSON object.
    static func answer(
        to request: [UInt8], files: [String], credentials: [String] = EnrollmentFile.credentialPaths
    ) -> JSON {
        guard let request = try? JSON(parsing: request, limit: requestLimit) else { return ["fault": "not a request"] }
        if request["do"]?.string == "read" {
            for path in files {
                do {
                    guard let content = try EnrollmentFile.read(path) else { continue }
                    let isWiped = EnrollmentFile.wipeHasBegun(content)
                    guard isWiped || (try? EnrollmentContent(parsing: content, of: path)) != nil else {
                        return ["path": .string(path), "fault": "it is not an enrollment"]
                    }
                    // Nothing is handed over of what an interrupted wipe left.
                    let answered = isWiped ? [UInt8](repeating: 0, count: content.count) : content
                    return ["path": .string(path), "content": .string(Base64.encode(answered))]
                } catch {
                    return ["path": .string(path), "fault": .string(error.description)]
                }
            }
            return [:]
        }
        guard request["do"]?.string == "wipe", let hash = request["sha256"]?.string else {
            return ["fault": "not a request"]
        }
        var wiped: [JSON] = []
        var answer: [String: JSON] = [:]
        for path in files + credentials {
            do {
                if try EnrollmentFile.wipe(path, hash: hash) { wiped.append(.string(path)) }
            } catch {
                // The others are to be wiped all the same.
                answer["fault"] = .string("\(path): \(error.description)")
            }
        }
        answer["wiped"] = .array(wiped)
        return .object(answer)
    }

    private static func receive() -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: requestLimit)
        while bytes.count <= requestLimit {
            if bytes.last == UInt8(ascii: "\n") { return bytes }
            let count = recv(STDIN_FILENO, &piece, piece.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += piece[..<count]
        }
        return nil
    }

    // MARK: The agent's side

    /// How often the helper is asked where it hangs up: it may be killed on a board that starts everything at once, and
    /// an enrollment that cannot be read then waits for the next start.
    private static let attempts = 4

    /// Asks the helper, again where it hangs up without an answer.
    ///
    /// One that is slow is waited for: a caller that asked another one to wipe would learn that nothing is there, as
    /// the first has wiped it meanwhile.
    ///
    /// - Parameter patience: how long all of it may take, in whole seconds.
    /// - Returns: `nil` if there is none, or it does not answer.
    static func ask(_ request: JSON, at socket: String, patience: Duration = .seconds(120)) async -> JSON? {
        guard !socket.isEmpty else { return nil }
        let end = ContinuousClock.now + patience
        for _ in 1...attempts where !Task.isCancelled {
            let left = end - .now
            // No time at all would mean no limit.
            guard left >= .seconds(1), let call = try? ActionCall(socket) else { return nil }
            let answer = await call.exchange(request.bytes + [UInt8(ascii: "\n")], patience: left)
            if let answer = try? JSON(parsing: answer) { return answer }
        }
        return nil
    }
}
