import Glibc
import Groundwork

/// The proxy that libcurl's requests go through, as the environment names it.
///
/// libcurl reads the same variables itself; this says in errors and to the doctor what it concluded (libcurl's
/// documentation of CURLOPT_PROXY and CURLOPT_NOPROXY).
public struct ForwardProxy: Sendable, Equatable {
    /// Host and port, without user and password.
    public let address: String
    /// The variable that names it.
    public let variable: String

    static let remedy =
        "check that it runs, and https_proxy in the environment of the agent (systemctl edit latchkey); "
        + "hosts that are reached without it belong in no_proxy"

    /// The proxy for an https request.
    ///
    /// - Parameter read: returns a variable of the environment.
    /// - Returns: `nil` if the request goes straight to the host.
    public static func forHTTPS(
        to host: String, _ read: (String) -> String? = ForwardProxy.variable
    ) -> ForwardProxy? {
        let exceptions = ProxyExceptions(list: read("no_proxy") ?? read("NO_PROXY") ?? "")
        guard !exceptions.contains(host) else { return nil }
        for variable in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            guard let value = read(variable), !value.isEmpty else { continue }
            return ForwardProxy(address: address(in: value), variable: variable)
        }
        return nil
    }

    /// A variable of this process's environment.
    public static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// A URL without its scheme, its user and password and its path. libcurl's own port of proxies is 1080.
    private static func address(in value: String) -> String {
        var rest = value[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.prefix { $0 != "/" }
        if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        let hasPort = rest.split(separator: "]").last?.contains(":") ?? false
        return DisplayText.clean(hasPort ? String(rest) : "\(rest):1080")
    }
}
