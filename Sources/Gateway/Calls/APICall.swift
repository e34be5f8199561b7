public import Cryptography
import FoundationEssentials
public import HTTPClient

/// A call of an API, as a caller states it.
public struct APICall: Sendable {
    /// The limit of a call whose answer is collected, unless the call or its host has one.
    public static let timeout = Duration.seconds(60)

    public var method: String
    /// Below the gateway, beginning with `/`, or an absolute `https` URL of the gateway or of a configured host.
    public var path: String
    public var headers: HTTPHeaders = [:]
    public var body: [UInt8]?
    /// The body instead, in pieces: a new feed for each attempt, because what was sent is gone.
    public var feed: (@Sendable () async throws -> BodyFeed)?
    /// How the body is signed; `nil` if it is not.
    public var signing: BodySigning?
    /// Scopes needed beyond the configured ones, separated by blanks.
    public var scope: String?
    /// Whose token is used.
    public var principal = Principal.board
    /// Whether the request says nothing of who calls, and needs no registration: no token, identifier, certificate or
    /// location (MAG 6.1).
    public var isPublic = false
    /// What the host is shown if it asks for a certificate, also in a public call; `nil` for the device's own.
    public var identity: TLSIdentity?
    /// When the user logged in; `nil` for the user who is logged in when the call begins.
    public var loggedInAt: Date?
    /// From the start of an attempt to the end of its answer; `nil` for that of the host, else ``timeout``.
    public var timeout: Duration?
    /// Asks for one-time passwords that the API demands; `nil` for the one whom the session asks.
    public var passwordAsker: (any OneTimePasswordAsker)?

    public init(_ method: String, _ path: String) {
        self.method = method
        self.path = path
    }
}

/// The answer of a called API: its own, whatever its status.
public struct CallAnswer: Sendable {
    public enum Body: Sendable {
        case whole([UInt8])
        /// Still arriving.
        case pieces(HTTPStream)
    }

    public let status: Int
    public let headers: HTTPHeaders
    public let body: Body

    public init(_ response: HTTPResponse) {
        (status, headers, body) = (response.status, response.headers, .whole(response.body))
    }

    init(_ stream: HTTPStream) {
        (status, headers, body) = (stream.status, stream.headers, .pieces(stream))
    }

    /// With its whole body, if that has arrived.
    public var response: HTTPResponse? {
        guard case .whole(let body) = body else { return nil }
        return HTTPResponse(status: status, headers: headers, body: body)
    }

    /// What the number in `x-ca-err` means of an answer that is not a success.
    public var refusal: GatewayError? { response.flatMap { Refusal($0, to: .call) }.map(GatewayError.refused) }

    /// Passes the body on, piece by piece, until `take` returns `false`.
    ///
    /// - Throws: ``GatewayError/noAnswer(_:_:)`` when it ends before it is complete, `CancellationError`, what `take`
    ///   throws.
    public func forEachPiece(_ take: ([UInt8]) async throws -> Bool) async throws {
        switch body {
        case .whole(let bytes): if !bytes.isEmpty { _ = try await take(bytes) }
        case .pieces(let stream):
            var pieces = stream.makeAsyncIterator()
            while let piece = try await GatewayError.ofCall({ try await pieces.next() }) {
                guard try await take(piece) else { return }
            }
        }
    }
}

extension GatewayError {
    /// Runs a part of a call, and makes its failure one of the call.
    ///
    /// - Throws: ``noAnswer(_:_:)``, `CancellationError`, what else `part` throws.
    static func ofCall<Value>(_ part: () async throws -> Value) async throws -> Value {
        do {
            return try await part()
        } catch HTTPError.cancelled {
            throw CancellationError()
        } catch let error as HTTPError {
            throw GatewayError.noAnswer(.call, error)
        }
    }
}
