import Cryptography
import FoundationEssentials
import Glibc
import Groundwork
import HTTPClient

/// Gets a configuration for a board without one: from an administrator's one-time URL, or from a file (MAG 2).
///
///     let configuration = try await Enrollment(url: text).fetch(using: client)
///     try await gateways.activate(configuration)
///
/// Fetching changes nothing on the board.
public struct Enrollment: Sendable {
    private enum Source: Sendable {
        case server(EnrollmentURL)
        case file(path: String)
    }
    private let source: Source

    /// - Parameter url: an `https` URL with `subjectKeyHash`, a `file:` URL, or the path of a file.
    /// - Throws: ``GatewayError/enrollmentURLWithoutKeyHash``, ``GatewayError/enrollmentKeyHashInvalid`` or
    ///   ``GatewayError/enrollmentURLInvalid(reason:)``, before anything is sent.
    public init(url: String) throws(GatewayError) {
        let text: String
        do throws(WrittenURL.Fault) {
            text = try WrittenURL(url).text
        } catch {
            throw .enrollmentURLInvalid(reason: error.reason)
        }
        guard !text.isEmpty else { throw .enrollmentURLInvalid(reason: "it is empty") }
        if text.lowercased().hasPrefix("file:") {
            source = .file(path: try Self.path(ofFileURL: text))
        } else if text.contains("://") {
            source = .server(try EnrollmentURL(text))
        } else {
            source = .file(path: text)
        }
    }

    /// Gets and checks the document. Sends one GET of the URL exactly as given, without any credentials, and follows no
    /// redirect.
    ///
    /// - Parameters:
    ///   - nameCheck: how the server's certificate must name it; that of an address is never checked.
    ///   - judgedAt: the time for which the server's certificate is verified; `nil` means the system clock.
    /// - Throws: ``GatewayError``; a URL that was used, has expired or was never issued causes
    ///   ``GatewayError/refused(_:)`` with ``Refusal/Meaning/enrollmentRefused``.
    public func fetch(
        using client: HTTPClient, nameCheck: ServerTrust.NameCheck = .strict,
        judgedAt: (@Sendable () -> Date)? = nil
    ) async throws(GatewayError) -> GatewayConfiguration {
        switch source {
        case .file(let path):
            return try GatewayConfiguration(parsing: try Self.document(path), source: path)
        case .server(let url):
            let document = try await Self.download(Self.request(url, judgedAt, nameCheck), client)
            return try GatewayConfiguration(parsing: document, source: url.host)
        }
    }

    /// Whether the URL is an address of that gateway. The document alone says whose it is, and using a URL spends it.
    public func isLikely(of gateway: GatewayIdentity) -> Bool {
        guard case .server(let url) = source else { return false }
        return url.isBelow(gateway)
    }

    private static func download(
        _ request: HTTPRequest, _ client: HTTPClient
    ) async throws(GatewayError) -> [UInt8] {
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch .tls(let host, .pinMismatch) {
            throw .enrollmentKeyMismatch(host: host)
        } catch {
            throw .noAnswer(.fetchConfiguration, error)
        }
        if let refusal = Refusal(response, to: .fetchConfiguration) { throw .refused(refusal) }
        guard response.status == 200 else {
            throw .unexpectedAnswer(.fetchConfiguration, status: response.status, reason: "not a configuration")
        }
        return response.body
    }

    /// The server is verified by the pin only; no mag-identifier, Authorization or client certificate is sent (MAG
    /// checklist 3).
    static func request(
        _ url: EnrollmentURL, _ judgedAt: (@Sendable () -> Date)?, _ nameCheck: ServerTrust.NameCheck = .strict
    ) -> HTTPRequest {
        var trust = ServerTrust(host: url.host, pins: [url.pin])
        trust.nameCheck = url.isAddress ? .off : nameCheck
        trust.judgedAt = judgedAt
        var request = HTTPRequest("GET", url.text, headers: ["Accept": "application/json"], trust: trust)
        request.responseLimit = GatewayConfiguration.documentLimit
        return request
    }

    // MARK: Files

    private static func path(ofFileURL text: String) throws(GatewayError) -> String {
        guard let url = URL(string: text), url.isFileURL, [nil, "", "localhost"].contains(url.host()) else {
            throw .enrollmentURLInvalid(reason: "a file URL is written file:///path")
        }
        return url.path
    }

    private static func document(_ path: String) throws(GatewayError) -> [UInt8] {
        let bytes = try read(path)
        do throws(ReceivedText.Fault) {
            return Array(try ReceivedText.decode(bytes).utf8)
        } catch {
            throw .configurationUnreadable(source: path, reason: error.reason)
        }
    }

    private static func read(_ path: String) throws(GatewayError) -> [UInt8] {
        do {
            return try BoundedFile.read(path, limit: GatewayConfiguration.documentLimit, .regularWithoutLink)
        } catch .system(Errno(ENOENT)), .system(Errno(ENOTDIR)) {
            throw .configurationMissing(path: path)
        } catch .system(Errno(EACCES)) {
            throw .configurationUnreadable(source: path, reason: "this user may not read it")
        } catch {
            throw .configurationUnreadable(source: path, reason: error.description)
        }
    }
}
