import Groundwork
import HTTPClient

/// What an answer has to be for the caller, as the typed answers of the protocol's clients (MAG 6.3).
///
/// Only an answer that is a success and has a body is held to it: an API words its errors as it likes.
extension CallRequest {
    /// - Parameter isEmpty: whether there is no body; `nil` if that is not known yet.
    /// - Throws: ``AgentError/answerTypeUnexpected(expected:found:status:)``; the API has done what was asked of it.
    package func checkType(ofAnswer status: Int, _ headers: HTTPHeaders, isEmpty: Bool? = nil) throws(AgentError) {
        guard let expected, (200..<300).contains(status), status != 204 else { return }
        guard !(isEmpty ?? (headers.first("Content-Length")?.trimmed == "0")) else { return }
        let found = headers.first("Content-Type").map { String($0.prefix { $0 != ";" }).trimmed.lowercased() }
        guard let found, expected.includes(found) else {
            throw .answerTypeUnexpected(
                expected: expected.mediaType, found: found.map { DisplayText.oneLine($0, limit: 100) }, status: status)
        }
    }
}

extension CallRequest.Kind {
    /// Whether the media type, in lower case and without parameters, is of this kind; suffixes by RFC 6839.
    package func includes(_ type: String) -> Bool {
        switch self {
        case .json: type == mediaType || type.hasSuffix("+json")
        case .scim: type == mediaType || type == Self.json.mediaType
        case .xml: type == mediaType || type == "text/xml" || type.hasSuffix("+xml")
        case .text: type.hasPrefix("text/")
        case .form: type == mediaType
        }
    }
}
