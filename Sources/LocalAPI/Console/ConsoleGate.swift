import HTTPClient

/// Decides by the head of a request whether the console's own page sent it, and not another page or program.
///
/// The listener is on loopback, which every user of the board reaches, and every page that a browser on the board
/// shows. So a request has to name this very listener (`Host`, against DNS rebinding), must come from its own page
/// (`Origin`, `Sec-Fetch-Site`, against requests of other sites), and needs what that page keeps: a cookie, which
/// browsers send to every port of this host, and a key, which only this origin can read.
struct ConsoleGate {
    /// Where the page's own script has its key.
    static let keyHeader = "X-Latchkey-Console"
    /// What is answered without a session: the page itself, which holds nothing of the board, and how a session begins.
    static let begin = "/session"

    let port: UInt16

    var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }
    /// Cookies know no ports: two consoles on one host must not overwrite each other's.
    func cookieName(_ id: Int) -> String { "\(cookiePrefix)\(id)" }
    private var cookiePrefix: String { "latchkey-\(port)-" }

    /// - Parameter readsPage: whether the request asks for a file of the page.
    /// - Throws: ``LocalAPIError/consoleRequestForeign(reason:)``
    func check(_ method: String, _ headers: HTTPHeaders, readsPage: Bool) throws(LocalAPIError) {
        let named = headers.all("Host")
        guard named.count == 1, let host = named.first, hosts.contains(host) else {
            throw .consoleRequestForeign(reason: "its Host is not \(hosts[0])")
        }
        let origins = headers.all("Origin")
        let isSafe = method == "GET" || method == "HEAD"
        guard origins.allSatisfy({ $0 == "http://\(host)" }), origins.count <= 1, isSafe || !origins.isEmpty else {
            throw .consoleRequestForeign(reason: "its Origin is not the console's page")
        }
        // A person may follow a link to the page itself from anywhere.
        guard readsPage || headers.all("Sec-Fetch-Site").allSatisfy({ $0 == "same-origin" }) else {
            throw .consoleRequestForeign(reason: "another page caused it")
        }
    }

    /// The values of the console's cookies (RFC 6265 section 4.2.1).
    func cookies(in headers: HTTPHeaders) -> [String] {
        headers.all("Cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let text = pair.drop { $0 == " " }
            guard text.hasPrefix(cookiePrefix), let equals = text.firstIndex(of: "=") else { return nil }
            return String(text[text.index(after: equals)...])
        }
    }

    /// What a browser may do with the page: run and show what this listener serves, and nothing else.
    static let securityHeaders: HTTPHeaders = [
        "Content-Security-Policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    ]
}
