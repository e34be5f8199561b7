import HTTPClient

/// What stands between a listener on TCP and the routes: a request names this listener, comes from no web page and has
/// the token.
///
/// The holder of the token is one program, whose rights are those of ``peer``.
struct TokenDoor: Sendable {
    /// What `Host` may be, in lower case (against DNS rebinding).
    let hosts: [String]
    let token: String
    let peer: Peer

    /// - Parameters:
    ///   - names: by which the listener is asked beside its address.
    init(_ address: ListenAddress, port: UInt16, names: [String], token: String, peer: Peer) {
        let known = [address.host] + (address.isLoopback ? ["localhost"] : []) + names.map { $0.lowercased() }
        hosts = known.map { "\($0):\(port)" }
        self.token = token
        self.peer = peer
    }

    /// - Throws: ``LocalAPIError/hostForeign(allowed:)``, ``LocalAPIError/tokenRefused``
    func caller(of head: RequestHead) throws(LocalAPIError) -> RequestCaller {
        let named = head.headers.all("Host")
        guard named.count == 1, hosts.contains(named[0].lowercased()) else { throw .hostForeign(allowed: hosts) }
        // Of one scheme, in any case (RFC 9110 section 11.1), with one space or more (RFC 6750 section 2.1).
        let given = head.headers.all("Authorization")
        let scheme = "bearer "
        guard given.count == 1, given[0].count > scheme.count, given[0].prefix(scheme.count).lowercased() == scheme,
            SecretText.isSame(token, String(given[0].dropFirst(scheme.count).drop { $0 == " " }))
        else { throw .tokenRefused }
        return RequestCaller(peer: peer)
    }
}
