import AgentCore
import FoundationEssentials
import Groundwork

/// What happens to certificates beside those of gateways.
enum CertificatesEvent: ReportedEvent {
    /// - Parameter name: of the certificate, which is on the board from now on.
    case imported(name: String, subject: String)
    case removed(name: String)
    case expiresSoon(name: String, end: Date)

    static let meanings = [
        "certificates.expires-soon": "a certificate that the board shows to servers ends within 14 days, or has ended",
        "certificates.imported": "a certificate and its key are in the sealed store; the board can show it to servers",
        "certificates.removed": "a certificate was removed from the sealed store, with its key",
    ]

    static var details: [String: Schema] {
        [
            "name": .string("name of the certificate"), "subject": .string("whom it is for"),
            "end": .time("when it ends"),
        ]
    }

    var report: EventReport {
        switch self {
        case .imported(let name, let subject):
            EventReport(
                "certificates.imported", .notable, "the certificate \(name) of \(subject) is in the sealed store",
                ["name": .string(name), "subject": .string(subject)])
        case .removed(let name):
            EventReport(
                "certificates.removed", .notable, "the certificate \(name) was removed", ["name": .string(name)])
        case .expiresSoon(let name, let end):
            EventReport(
                "certificates.expires-soon", .notable, "the certificate \(name) ends \(end.formatted(.iso8601))",
                ["name": .string(name), "end": .string(end.formatted(.iso8601))])
        }
    }
}
