import Groundwork

/// The form of a gateway's authorization URLs, learned from one that it gave to this board. Pure.
///
/// Other URLs may differ from it only in the identifier of their session.
struct ProviderForm: Sendable, Equatable {
    /// The length of an identifier, in bytes. A shorter one could be guessed, and might be a word of the path.
    static let identifierLength = 16...128

    /// A segment of the path or a parameter of the query.
    private struct Piece {
        /// The slash, or the parameter's name with its separators.
        let before: String
        let value: String
        let isOfQuery: Bool
        var isIdentifier: Bool { ProviderForm.isIdentifier(value) }
    }

    private enum Part: Equatable {
        case constant(String)
        /// An identifier, and the text before it.
        case identifier(after: String)
    }

    private let parts: [Part]

    /// - Parameter own: the `auth_url` that the gateway gave to this board.
    /// - Throws: ``GatewayError/unexpectedAnswer(_:status:reason:)`` when it contains no identifier; what
    ///   ``ProviderURL`` throws when it is not a URL of the gateway.
    init(of own: String, at gateway: GatewayIdentity) throws(GatewayError) {
        let pieces = Self.pieces(of: try ProviderURL(own, at: gateway))
        // An identifier in the query takes precedence: then the path is the name of an interface.
        var places = pieces.indices.filter { pieces[$0].isOfQuery && pieces[$0].isIdentifier }
        if places.isEmpty, let last = pieces.lastIndex(where: { !$0.isOfQuery }), pieces[last].isIdentifier {
            places = [last]
        }
        guard !places.isEmpty else {
            throw .unexpectedAnswer(
                .beginAuthorization, status: 200,
                reason:
                    "its auth_url has no identifier of \(Self.identifierLength.lowerBound) or more letters and digits")
        }
        parts = pieces.enumerated().map { index, piece in
            places.contains(index) ? .identifier(after: piece.before) : .constant(piece.before + piece.value)
        }
    }

    /// The identifier of the session in another URL; `nil` if that does not have the gateway's form.
    func identifier(in url: ProviderURL) -> String? {
        let pieces = Self.pieces(of: url)
        guard pieces.count == parts.count else { return nil }
        var identifiers: [String] = []
        for (piece, part) in zip(pieces, parts) {
            switch part {
            case .constant(let text): guard piece.before + piece.value == text else { return nil }
            case .identifier(let before):
                guard piece.before == before, piece.isIdentifier else { return nil }
                identifiers.append(piece.value)
            }
        }
        return identifiers.joined(separator: "&")
    }

    private static func pieces(of url: ProviderURL) -> [Piece] {
        let segments = url.pathAlone.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let parameters = url.query.map { $0.split(separator: "&", omittingEmptySubsequences: false) } ?? []
        return segments.map { Piece(before: "/", value: String($0), isOfQuery: false) }
            + parameters.enumerated().map { index, parameter in
                let name = parameter.prefix { $0 != "=" }
                return Piece(
                    before: (index == 0 ? "?" : "&") + name + "=", value: String(parameter.dropFirst(name.count + 1)),
                    isOfQuery: true)
            }
    }

    /// Letters, digits, `-` and `_`: they never need an escape, so there is only one way to write them.
    private static func isIdentifier(_ text: String) -> Bool {
        identifierLength.contains(text.utf8.count)
            && text.utf8.allSatisfy {
                ASCII.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}
