import Foundation
import GatewayLab
import TestSupport

/// A browser that knows nothing of the board, such as that of a phone: the curl program, which follows the lab's pages.
struct PhoneBrowser {
    private let authority: URL

    init(trusting lab: Lab, in folder: URL) throws {
        authority = folder.appending(path: "browser-authority.pem")
        try lab.caCertificatePEM.write(to: authority, atomically: true, encoding: .utf8)
    }

    /// Logs in on the pages from an address on, and allows what is asked for.
    ///
    /// - Returns: the address that the browser is led to, and the pages on the way.
    func logIn(at address: String, as user: String = "alice") async throws -> (address: String, pages: [String]) {
        var pages: [String] = []
        var (next, form): (String, [String: String]?) = (address, nil)
        let fields = [
            ["username": user, "password": "\(user)-password", "action": "login"], ["action": "grant"],
        ]
        var steps = fields[...]
        for _ in 0..<8 {
            let reply = try await open(next, form)
            if let location = reply.location {
                guard location.hasPrefix("https://") else { return (location, pages) }
                (next, form) = (location, nil)
                continue
            }
            pages.append(reply.text)
            guard let action = reply.text.firstMatch(of: /<form method="post" action="([^"]+)">/)?.1,
                let step = steps.popFirst()
            else { throw Unexpected("no form: \(reply.text)") }
            let hidden = reply.text.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]+)">/)
            form = Dictionary(uniqueKeysWithValues: hidden.map { (String($0.1), String($0.2)) })
                .merging(step) { _, mine in mine }
            next = String(action)
        }
        throw Unexpected("the pages do not end")
    }

    /// Opens an address, and posts a form if there is one.
    func open(_ address: String, _ form: [String: String]? = nil) async throws -> (text: String, location: String?) {
        let fields = (form ?? [:]).flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] }
        let result = try await Program(url: URL(filePath: "/usr/bin/curl")).run(
            ["-sS", "-m", "150", "--cacert", authority.path, "-w", "\n%{redirect_url}"] + fields + [address])
        guard result.status == 0 else { throw Unexpected("curl \(address): \(result.errors)") }
        let end = result.output.lastIndex(of: "\n") ?? result.output.endIndex
        let location = String(result.output[end...].dropFirst())
        return (String(result.output[..<end]), location.isEmpty ? nil : location)
    }
}
