import CCurl
import Cryptography
import Synchronization

/// The client that owns a set of connections.
struct ConnectionOwner: Hashable, Sendable {
    private static let last = Atomic<UInt64>(0)
    private let number = ConnectionOwner.last.add(1, ordering: .relaxed).newValue
}

/// The connections that requests of one client, one trust and one identity may share. Used on the transfer thread only.
///
/// libcurl compares the TLS options it knows before it uses a connection again; it does not know what its TLS hook
/// required. So each trust and identity has its own connection cache.
final class ConnectionPool {
    /// Connections are shared only under equal keys. The clock of a trust is not part of the key: it does not affect
    /// which certificates are trusted.
    struct Key: Hashable, Sendable {
        let owner: ConnectionOwner
        private let host: String?
        private let nameCheck: ServerSecurity.NameCheck?
        private let minimumTLS: ServerSecurity.MinimumTLS?
        private let usesPublicAnchors: Bool
        private let anchors: [[UInt8]]
        private let pins: Set<PublicKeyPin>
        private let identity: [[UInt8]]

        init(owner: ConnectionOwner, trust: ServerTrust?, identity: TLSIdentity?) {
            self.owner = owner
            host = trust?.host
            let security = trust?.security
            nameCheck = security?.nameCheck
            minimumTLS = security?.minimumTLS
            usesPublicAnchors = security?.usesPublicAnchors ?? false
            anchors = security?.anchors.map(\.der) ?? []
            pins = Set(security?.pins ?? [])
            self.identity = identity?.chain.map(\.der) ?? []
        }
    }

    /// A `CURLSH`; its cache of connections closes with it.
    let share: UnsafeMutableRawPointer
    private let curl: Curl

    init(of curl: Curl) throws(HTTPError) {
        self.curl = curl
        guard let share = curl.calls.share_init() else {
            throw .library(operation: "make a connection pool", reason: "no memory")
        }
        self.share = share
        let status = latchkey_curl_share_connections(curl.table, share)
        guard status == CURLSHE_OK else {
            throw .library(
                operation: "make a connection pool", reason: String(cString: curl.calls.share_strerror(status)!))
        }
    }

    deinit { _ = curl.calls.share_cleanup(share) }
}
