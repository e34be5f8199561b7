import Cryptography
import Foundation
import Groundwork

/// The pages that a browser shows while a user logs in. They are plain forms without scripts or external resources.
enum LoginPage {
    /// - Parameter place: where the user logs in.
    static func login(
        place: String, client: String, redirectURI: String, action: String, sessionID: String, sessionData: String,
        isWrong: Bool
    ) -> WireResponse {
        let complaint = isWrong ? #"<p class="bad" role="alert">User name or password is wrong.</p>"# : ""
        return page(
            title: "Log in", redirectURI: redirectURI,
            """
            <h1>Log in</h1>
            <p><strong>\(escaped(client))</strong> asks you to log in at \(escaped(place)).</p>
            \(complaint)
            <form method="post" action="\(escaped(action))">
            \(hidden("sessionID", sessionID))\(hidden("sessionData", sessionData))
            <label for="username">User name</label>
            <input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required>
            <div>
            <button class="primary" name="action" value="login">Log in</button>
            <button name="action" value="cancel" formnovalidate>Cancel</button>
            </div>
            </form>
            """)
    }

    static func consent(
        client: String, user: LabUser, scopes: [String], redirectURI: String, action: String, sessionID: String,
        sessionData: String
    ) -> WireResponse {
        page(
            title: "Allow access", redirectURI: redirectURI,
            """
            <h1>Allow access</h1>
            <p><strong>\(escaped(client))</strong> wants to act for <strong>\(escaped(user.fullName))</strong> with:</p>
            <ul>\(scopes.map { "<li><code>\(escaped($0))</code></li>" }.joined())</ul>
            <form method="post" action="\(escaped(action))">
            \(hidden("sessionID", sessionID))\(hidden("sessionData", sessionData))
            <div>
            <button class="primary" name="action" value="grant">Allow</button>
            <button name="action" value="deny">Deny</button>
            </div>
            </form>
            """)
    }

    private static func hidden(_ name: String, _ value: String) -> String {
        #"<input type="hidden" name="\#(name)" value="\#(escaped(value))">"#
    }

    private static func page(title: String, redirectURI: String, _ content: String) -> WireResponse {
        let html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · Latchkey lab</title>
            <link rel="icon" href="data:,">
            <style>\(css)</style>
            </head>
            <body>
            <main>
            \(content)
            </main>
            </body>
            </html>

            """
        // Browsers apply the policy of a form to the redirect that answers it, so it includes the client.
        let policy =
            "default-src 'none'; style-src 'sha256-\(Base64.encode(SHA256.hash(Array(css.utf8))))'; img-src data:; "
            + "base-uri 'none'; form-action 'self' \(source(redirectURI)); frame-ancestors 'none'"
        return WireResponse(
            status: 200,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"), ("Pragma", "no-cache"),
                ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
                ("Referrer-Policy", "no-referrer"),
            ],
            body: Array(html.utf8))
    }

    /// Where a redirect URI leads, as a policy names it (CSP 3 section 2.3.1): its origin, or the scheme of an app. A
    /// policy cannot name an IPv6 address.
    private static func source(_ redirectURI: String) -> String {
        guard let url = URLComponents(string: redirectURI), let scheme = url.scheme, let host = url.host,
            ["http", "https"].contains(scheme), !host.contains(":")
        else { return String(redirectURI.prefix { $0 != ":" }) + ":" }
        return "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    private static let css = """
        :root { color-scheme: light dark; --line: light-dark(#c9cec4, #3a434a); --accent: light-dark(#0b6e5f, #3fc2a8); }
        body { margin: 0; background: light-dark(#f4f5f2, #14171a); color: light-dark(#1c2226, #e4e8ea); font: 16px/1.5 system-ui, sans-serif; }
        main { box-sizing: border-box; max-width: 26rem; margin: 8vh auto; padding: 1.5rem; background: light-dark(#fff, #1c2125); border: 1px solid var(--line); border-radius: 10px; }
        h1 { font-size: 1.25rem; margin: 0 0 .6rem; }
        label { display: block; margin: .8rem 0 .2rem; }
        input, button { box-sizing: border-box; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 6px; padding: .5rem .7rem; }
        input { width: 100%; }
        div { display: flex; gap: .6rem; margin-top: 1.2rem; }
        button { flex: 1; cursor: pointer; }
        .primary { background: var(--accent); border-color: var(--accent); color: light-dark(#fff, #06231e); font-weight: 600; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        ul { padding-left: 1.2rem; }
        .bad { color: light-dark(#b3261e, #ff8a80); }
        @media (max-width: 30rem) { main { margin: 0; border: 0; border-radius: 0; min-height: 100vh; } }
        """
}
