import AgentCore
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient

/// An enrollment that waits for the agent: a one-time URL, or a gateway's configuration document.
enum EnrollmentContent {
    case url(Enrollment)
    case document(GatewayConfiguration)

    /// The most bytes of a file, a credential or a code.
    static let limit = 128 << 10
    private static let urlLimit = 4096

    /// Unlike what a person types, it never names another file: its author may not be allowed to read that one.
    ///
    /// - Parameter place: where the bytes are from, for messages.
    /// - Throws: ``FirstBootError/malformed(place:reason:)``, `GatewayError` of a URL or a document with faults
    init(parsing bytes: [UInt8], of place: String) throws {
        let text = try Self.text(bytes, of: place)
        if text.hasPrefix("{") {
            self = .document(try GatewayConfiguration(parsing: Array(text.utf8)))
            return
        }
        guard text.lowercased().hasPrefix("https://") else {
            throw FirstBootError.malformed(
                place: place, reason: "it begins neither with https:// nor, as a configuration document, with {")
        }
        guard text.utf8.count <= Self.urlLimit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw FirstBootError.malformed(
                place: place, reason: "a URL is one line of at most \(Self.urlLimit) printable ASCII characters")
        }
        self = .url(try Enrollment(url: text))
    }

    /// - Returns: a document, or the URL without what stands around it.
    private static func text(_ bytes: [UInt8], of place: String) throws(FirstBootError) -> String {
        let text: String
        do throws(ReceivedText.Fault) {
            text = try ReceivedText.decode(bytes).trimmed
        } catch {
            throw .malformed(place: place, reason: error.reason)
        }
        guard !text.isEmpty else { throw .malformed(place: place, reason: "it is empty") }
        guard !text.hasPrefix("{") else { return text }
        do throws(WrittenURL.Fault) {
            return try WrittenURL(text).text
        } catch {
            throw .malformed(place: place, reason: error.reason)
        }
    }

    /// - Throws: `GatewayError`
    func configuration(
        using client: HTTPClient, nameCheck: ServerTrust.NameCheck, judgedAt: @escaping @Sendable () -> Date
    ) async throws -> GatewayConfiguration {
        switch self {
        case .document(let gateway): return gateway
        case .url(let enrollment):
            let gateway = try await enrollment.fetch(using: client, nameCheck: nameCheck, judgedAt: judgedAt)
            killPoint("first-boot-answered")
            return gateway
        }
    }
}
