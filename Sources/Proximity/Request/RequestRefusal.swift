import Groundwork

/// Why a request was refused without asking a person, or not carried out. The raw value is stable and for programs.
public enum RequestRefusal: String, Sendable, CaseIterable {
    case tooLong = "too-long"
    case tooSlow = "too-slow"
    case notUTF8 = "not-utf8"
    case notJSON = "not-json"
    case withoutURL = "without-url"
    case foreignGateway = "foreign-gateway"
    case replayed = "replayed"
    case tooMany = "too-many"
    case busy = "busy"
    case ambiguous = "ambiguous"

    public var text: String {
        switch self {
        case .tooLong: "it is longer than \(RequestCollector.limit) bytes"
        case .tooSlow: "it was not complete in time"
        case .notUTF8: "it is not UTF-8"
        case .notJSON: "it is not a JSON object"
        case .withoutURL: "it has no usable provider_url"
        case .foreignGateway: "its URL is not one of this device's gateway"
        case .replayed: "its session was answered before or waits already"
        case .tooMany: "too many requests came in a short time"
        case .busy: "too many other requests wait"
        case .ambiguous: "several devices asked, and the button cannot tell which of them is meant"
        }
    }

    var kind: ExplanationKind {
        switch self {
        case .tooLong: .tooLarge
        case .tooSlow: .tooSlow
        case .notUTF8, .notJSON, .withoutURL, .foreignGateway: .invalidInput
        case .replayed, .ambiguous: .conflict
        case .tooMany, .busy: .tooMany
        }
    }

    var remedy: String? {
        switch self {
        case .tooMany, .busy: "try again in a minute"
        case .ambiguous: "ask again one after the other, or answer each by its number: latchkey consent"
        default: nil
        }
    }

    var numbers: ErrorNumbers {
        switch self {
        case .withoutURL: ErrorNumbers(android: 121, ios: 650_006)
        case .foreignGateway: ErrorNumbers(android: 121, ios: 650_104)
        case .busy: ErrorNumbers(android: 121, ios: 650_101)
        default: ErrorNumbers(android: 121, ios: 650_002)
        }
    }
}
