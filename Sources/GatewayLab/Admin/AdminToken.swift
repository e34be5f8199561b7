import Cryptography
import Foundation
import Groundwork

/// The secret of the admin API, new with every start of a lab: it gives all rights of an administrator.
///
/// The admin port is on loopback, where every user of the machine can reach it; the token distinguishes the lab's own
/// user from the others.
struct AdminToken: Sendable {
    /// 32 random bytes in base64url.
    let text: String

    /// - Throws: `CryptographyError`
    init() throws { text = try GatewayCore.newSecret() }

    /// Whether an `Authorization` header holds it (RFC 6750 section 2.1).
    func isIn(_ header: String?) -> Bool {
        guard let header, header.lowercased().hasPrefix("bearer ") else { return false }
        return equalInConstantTime(Array(header.dropFirst(7).utf8), Array(text.utf8))
    }
}

/// A file with the token of a running lab, readable only by its user: the `latchkey-lab` commands read it.
public struct AdminTokenFile: Sendable {
    /// The directory of the file.
    public let directory: String
    private let name: String

    public var path: String { directory + "/" + name }

    /// In a lab's data directory.
    public init(dataDirectory: String) {
        directory = dataDirectory
        name = "admin.token"
    }

    /// The place where the commands of the same user find it: `latchkey-lab/PORT.token` in `XDG_STATE_HOME`, or
    /// else in `~/.local/state` (XDG Base Directory Specification).
    /// - Parameter port: of the lab's admin page.
    public init(port: Int) {
        let environment = ProcessInfo.processInfo.environment
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let state = folder("XDG_STATE_HOME") ?? (folder("HOME") ?? NSHomeDirectory()) + "/.local/state"
        directory = state + "/latchkey-lab"
        name = "\(port).token"
    }

    /// - Throws: `LabError.cannotKeep`
    public func write(_ token: String) throws {
        try StateKeeper(directory: directory).write(Data((token + "\n").utf8), to: name)
    }

    /// The token; `nil` if there is none that this user may read.
    public func read() -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let token = text.trimmed
        return token.isEmpty || token.utf8.count > 256 ? nil : token
    }

    /// Removes the file unless a lab started later has written its own token.
    public func remove(_ token: String) {
        guard read() == token else { return }
        // A leftover token is useless once its lab has ended.
        try? FileManager.default.removeItem(atPath: path)
    }
}
