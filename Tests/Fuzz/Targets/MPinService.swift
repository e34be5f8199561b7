import Cryptography
import Groundwork
import HTTPClient

@testable import MPin

extension FuzzTarget {
    static let mpinService = [
        FuzzTarget(name: "mpin-settings") { bytes throws(Violation) in
            let base = "https://mpin.example.org"
            guard let answer = try? Answer(bytes, from: "URL"), let settings = try? ClientSettings(answer, of: base)
            else { return .refused }
            for name in ClientSettings.Address.allCases {
                let address = settings[name]
                try require(!address.hasPrefix("/") && !address.hasPrefix("ws"), "an address is absolute")
                guard let used = WebAddress(address) else { continue }
                let isHere = ["127.0.0.1", "localhost", "[::1]"].contains(used.host)
                try require(used.isProtected || isHere, "nothing is sent in the clear to others")
            }
            let authority = settings.secondAuthority
            try require(authority.isEmpty || authority.hasSuffix("/"), "a path can be appended")
            return .accepted
        },
        FuzzTarget(name: "mpin-answers") { bytes throws(Violation) in
            guard let answer = try? Answer(bytes, from: "URL") else { return .refused }
            var isUsed = false
            let identity = MPinID(bytes: Array(#"{"userID":"alice"}"#.utf8))
            if let registration = try? RegistrationAnswer(answer, of: "alice") {
                isUsed = true
                try require(registration.identity.userID == "alice", "an identity is the user's own")
                try require((1...Answer.textLimit).contains(registration.text.count), "a text is bounded")
            }
            if let identity, let first = try? FirstShareAnswer(answer, of: identity) {
                isUsed = true
                try require((try? HTTPSAddress.checkCharacters(first.query)) != nil, "a query fits into an address")
            }
            if let identity, let first = try? FirstPermitAnswer(answer, of: identity) {
                isUsed = true
                try require(first.date.days > 0, "a date is a day")
                try require(first.storageID == Hex.encode(identity.hash), "a permit is the user's own")
                try require(first.signature.utf8.allSatisfy(ASCII.isLetterOrDigit), "a signature fits into a query")
            }
            if let second = try? PassTwoAnswer(answer) {
                isUsed = true
                let sent = second.verdictBody
                try require(
                    sent.starts(with: Array(#"{"mpinResponse":"#.utf8) + answer.bytes), "what came is sent back")
                try require(sent.count == answer.bytes.count + 17, "and nothing else")
            }
            if let point = try? answer.point("clientSecret") {
                isUsed = true
                try require(point.encoding.count == G1Point.byteCount, "a point has 65 bytes")
            }
            if let details = try? MPinSessionDetails(answer) {
                try require(DisplayText.oneLine(details.appName) == details.appName, "what is shown is on one line")
            }
            let password = MPinOneTimePassword(nil, answer.json)
            try require(password.status != .ok, "no password is none")
            if let order = LogOutOrder(answer.json) {
                isUsed = true
                try require((try? JSON(parsing: order.body))?.object != nil, "what is sent to log out is an object")
            }
            if (try? MPinServiceDetails(answer)) != nil { isUsed = true }
            return isUsed ? .accepted : .refused
        },
        FuzzTarget(name: "mpin-published-permit") { bytes throws(Violation) in
            guard let point = PublishedPermit.point(bytes) else { return .refused }
            try require(bytes.count <= PublishedPermit.limit, "a published permit is bounded")
            try require(Hex.encode(point.encoding) == text(bytes).trimmed.lowercased(), "it is what was published")
            return .accepted
        },
        FuzzTarget(name: "mpin-users") { bytes throws(Violation) in
            // Both documents with a zero byte between: no JSON has one.
            let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
            guard parts.count == 2, let stored = try? StoredUsers(users: parts[0], secrets: parts[1], key: "key") else {
                return .refused
            }
            let again = try? StoredUsers(
                users: stored.users(of: "key").bytes, secrets: stored.secretDocument.bytes, key: "key")
            try require(again == stored, "what is written is read again")
            return .accepted
        },
        FuzzTarget(name: "mpin-configuration") { bytes throws(Violation) in
            guard let json = try? JSON(parsing: bytes), let configuration = try? MPinConfiguration(json) else {
                return .refused
            }
            try require(WebAddress(configuration.settingsURL) != nil, "an account has an address that can be asked")
            let again = try? MPinConfiguration(configuration.document)
            try require(again == configuration, "what is written is read again")
            return .accepted
        },
    ]
}
