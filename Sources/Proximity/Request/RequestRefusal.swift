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

    /// All that is said of a refusal: why, its kind, what to do about it, and its number for iOS.
    private var facts: (text: String, kind: ExplanationKind, remedy: String?, ios: Int) {
        switch self {
        case .tooLong: ("it is longer than \(RequestCollector.limit) bytes", .tooLarge, nil, 650_002)
        case .tooSlow: ("it was not complete in time", .tooSlow, nil, 650_002)
        case .notUTF8: ("it is not UTF-8", .invalidInput, nil, 650_002)
        case .notJSON: ("it is not a JSON object", .invalidInput, nil, 650_002)
        case .withoutURL: ("it has no usable provider_url", .invalidInput, nil, 650_006)
        case .foreignGateway: ("its URL is not one of this device's gateway", .invalidInput, nil, 650_104)
        case .replayed: ("its session was answered before or is already waiting", .conflict, nil, 650_002)
        case .tooMany: ("too many requests came in a short time", .tooMany, "try again in a minute", 650_002)
        case .busy: ("too many other requests wait", .tooMany, "try again in a minute", 650_101)
        case .ambiguous:
            (
                "several devices asked, and the button cannot choose between them", .conflict,
                "ask again one after the other, or answer each by its number: latchkey consent", 650_002
            )
        }
    }

    public var text: String { facts.text }
    var kind: ExplanationKind { facts.kind }
    var remedy: String? { facts.remedy }
    /// The reference clients' numbers (MAG 8.6).
    var numbers: ErrorNumbers { ErrorNumbers(android: 121, ios: facts.ios) }
}
