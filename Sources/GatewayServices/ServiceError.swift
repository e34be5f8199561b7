public import Groundwork
import HTTPClient

/// Errors of the gateway's services: refusals of its directory, devices, enterprise applications.
public enum ServiceError: Explained, Equatable {
    /// The service's refusal of a request.
    public struct Reply: Sendable, Equatable {
        public let status: Int
        /// The number in `x-ca-err`.
        public let caError: Int?
        /// The service's own words, on one line.
        public let text: String?
    }

    case refused(ServiceOperation, Reply)
    /// HTTP 404.
    case absent(ServiceOperation, Reply)
    /// HTTP 409 or 412.
    case conflict(ServiceOperation, Reply)
    case answerInvalid(ServiceOperation, reason: String)
    /// The device has as many attributes as the gateway allows (x-ca-err 1016155).
    case metadataFull(status: Int)
    case metadataInvalid(reason: String)
    case appUnknown(id: String)
    /// The application's web address is not at the gateway.
    case appAddressForeign(id: String)
    case appWithoutAddress(id: String)
    /// The application is a native one, which a board cannot open.
    case appNative(id: String, url: String)
    case appsInvalid(reason: String)
    case iconAbsent(id: String)

    init(_ response: HTTPResponse, _ operation: ServiceOperation) {
        let reply = Reply(response)
        switch (response.status, reply.caError) {
        case (_, 1_016_155): self = .metadataFull(status: response.status)
        case (404, _): self = .absent(operation, reply)
        case (409, _), (412, _): self = .conflict(operation, reply)
        default: self = .refused(operation, reply)
        }
    }

    public var explanation: Explanation {
        switch self {
        case .refused(let operation, let reply):
            Explanation(
                "services.refused", .refused, reply.sentence(operation, "the service refused"),
                remedy: "ask the gateway's administrator whether this client may use the service",
                meaning: "a service of the gateway did not do what it was asked", gateway: reply.numbers)
        case .absent(let operation, let reply):
            Explanation(
                "services.not-found", .notFound, reply.sentence(operation, "it does not exist"),
                meaning: "a service of the gateway does not have the requested object", gateway: reply.numbers)
        case .conflict(let operation, let reply):
            Explanation(
                "services.conflict", .conflict, reply.sentence(operation, "it already exists, or was changed"),
                meaning: "a service of the gateway already has something with this name", gateway: reply.numbers)
        case .answerInvalid(let operation, let reason):
            Explanation(
                "services.answer-invalid", .invalidAnswer,
                "cannot \(operation.text): the service's answer is not valid: \(reason)",
                remedy: "report it to the gateway's administrator", gateway: .local(100_407))
        case .metadataFull(let status):
            Explanation(
                "services.metadata-full", .full, "the gateway stores no more metadata for this device",
                remedy: "delete some: latchkey metadata delete NAME",
                gateway: GatewayNumbers(.endpoint, 1_016_155, caError: 1_016_155, httpStatus: status))
        case .metadataInvalid(let reason):
            Explanation(
                "services.metadata-invalid", .invalidInput, "this cannot be metadata of a device: \(reason)",
                gateway: .local(100_206))
        case .appUnknown(let id):
            Explanation(
                "services.app-unknown", .notFound, "the gateway offers no enterprise application \(id)",
                remedy: "list the applications: latchkey apps list", gateway: .local(140_004))
        case .appAddressForeign(let id):
            Explanation(
                "services.app-address-foreign", .invalidAnswer,
                "the address of the application \(id) is not at the gateway, so it got no access token",
                remedy: "report it to the gateway's administrator", gateway: .local(140_001))
        case .appWithoutAddress(let id):
            Explanation(
                "services.app-without-address", .invalidAnswer,
                "the application \(id) has neither a web address nor a native one",
                remedy: "report it to the gateway's administrator", gateway: .local(140_002))
        case .appNative(let id, let url):
            Explanation(
                "services.app-native", .conflict,
                "the application \(id) is a native phone application (\(url)), which a board cannot open",
                remedy: "open its address on a device that has the application", gateway: .local(140_003))
        case .appsInvalid(let reason):
            Explanation(
                "services.apps-invalid", .invalidAnswer,
                "the gateway's list of enterprise applications is not valid: \(reason)",
                remedy: "report it to the gateway's administrator", gateway: .local(140_005))
        case .iconAbsent(let id):
            Explanation("services.icon-absent", .notFound, "the application \(id) has no icon at the gateway")
        }
    }

    public static let examples: [ServiceError] = [
        .refused(.listDevices, .example(403)), .absent(.listDevices, .example(404)),
        .conflict(.saveItem, .example(409)), .answerInvalid(.listDevices, reason: "REASON"),
        .metadataFull(status: 400), .metadataInvalid(reason: "REASON"), .appUnknown(id: "ID"),
        .appAddressForeign(id: "ID"), .appWithoutAddress(id: "ID"), .appNative(id: "ID", url: "URL"),
        .appsInvalid(reason: "REASON"), .iconAbsent(id: "ID"),
    ]
}

extension ServiceError.Reply {
    /// The most characters of the service's own words.
    private static let textLimit = 200

    init(_ response: HTTPResponse) {
        let caError = response.headers.first("x-ca-err").flatMap { Int($0) }.flatMap {
            (1...999_999_999) ~= $0 ? $0 : nil
        }
        // RFC 7644 section 3.12, or the error of OAuth (MAG 0.4). Anything else is not repeated.
        let body = try? JSON(parsing: response.body, limit: 64 << 10)
        let text = (body?["detail"] ?? body?["error_description"])?.string
        self.init(
            status: response.status, caError: caError,
            text: text.flatMap { $0.isEmpty ? nil : DisplayText.oneLine($0, limit: Self.textLimit) })
    }

    fileprivate static func example(_ status: Int) -> Self { Self(status: status, caError: nil, text: nil) }

    fileprivate func sentence(_ operation: ServiceOperation, _ what: String) -> String {
        let number = caError.map { ", x-ca-err \($0)" } ?? ""
        return "cannot \(operation.text): \(what) (HTTP \(status)\(number)\(text.map { ": \($0)" } ?? ""))"
    }

    fileprivate var numbers: GatewayNumbers {
        GatewayNumbers(.targetAPI, caError ?? status, caError: caError, httpStatus: status)
    }
}
