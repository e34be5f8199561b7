import Cryptography
import Groundwork
import HTTPClient

extension Answer {
    /// A point of the curve.
    ///
    /// - Throws: ``MPinError/answerInvalid(place:reason:)`` if there are no octets; ``MPinError/pointInvalid(place:)``
    ///   for any that are not a point, however many (MPIN checklist 12)
    func point(_ name: String) throws(MPinError) -> G1Point {
        let octets = try octets(name, limit: Self.limit)
        do {
            return try G1Point(encoding: octets)
        } catch {
            throw .pointInvalid(place: place)
        }
    }

    /// Checks that an answer names the identity that was asked for (MPIN 10, 2).
    func require(_ hash: [UInt8], isOf identity: MPinID) throws(MPinError) {
        guard hash == identity.hash else { throw .identityMismatch(place: place) }
    }
}

/// An identity, and the text by which its registration goes on (MPIN 5.5). Pure.
struct RegistrationAnswer: Equatable {
    let identity: MPinID
    let text: SecretBytes
    let isActive: Bool

    /// - Parameter id: whom it has to be for.
    /// - Throws: ``MPinError/answerInvalid(place:reason:)``
    init(_ answer: Answer, of id: String) throws(MPinError) {
        guard let identity = MPinID(bytes: try answer.octets("mpinId", limit: MPinID.limit)),
            let user = identity.userID
        else { throw .answerInvalid(place: answer.place, reason: "its mpinId names no user") }
        guard user == id else { throw .answerInvalid(place: answer.place, reason: "its mpinId is another user's") }
        self.identity = identity
        text = SecretBytes(utf8: try answer.requiredText("regOTT"))
        isActive = try answer.flag("active") ?? false
    }
}

/// The first authority's share of a client secret, and the query with which the second one is asked (MPIN 5.6). Pure.
struct FirstShareAnswer {
    let share: G1Point
    /// As it came.
    let query: String

    /// - Throws: ``MPinError/answerInvalid(place:reason:)``, ``MPinError/pointInvalid(place:)``,
    ///   ``MPinError/identityMismatch(place:)``
    init(_ answer: Answer, of identity: MPinID) throws(MPinError) {
        query = try answer.requiredText("params")
        guard (try? HTTPSAddress.checkCharacters(query)) != nil else {
            throw .answerInvalid(place: answer.place, reason: "its params are not a query")
        }
        for field in query.split(separator: "&") where field.hasPrefix("hash_mpin_id=") {
            let value = PercentEncoding.decodeWherePossible(field.dropFirst("hash_mpin_id=".count).utf8)
            try answer.require(Hex.decode(String(decoding: value, as: UTF8.self)) ?? [], isOf: identity)
        }
        share = try answer.point("clientSecretShare")
    }
}

/// The first authority's share of a time permit, and how the second one is asked (MPIN 5.7). Pure.
struct FirstPermitAnswer {
    let date: MPinDate
    let share: G1Point
    /// Hexadecimal, as are the other two.
    let signature: String
    let storageID: String

    /// - Throws: ``MPinError/answerInvalid(place:reason:)``, ``MPinError/pointInvalid(place:)``,
    ///   ``MPinError/identityMismatch(place:)``
    init(_ answer: Answer, of identity: MPinID) throws(MPinError) {
        guard let days = try answer.integer("date"), let date = MPinDate(days: days) else {
            throw .answerInvalid(place: answer.place, reason: "its date is missing or out of range")
        }
        self.date = date
        signature = Hex.encode(try answer.octets("signature"))
        let storage = try answer.octets("storageId")
        try answer.require(storage, isOf: identity)
        storageID = Hex.encode(storage)
        share = try answer.point("timePermit")
    }
}

/// A time permit as plain text, from where permits are published (MPIN 5.7). Pure.
enum PublishedPermit {
    /// The most bytes of the text, blanks included.
    static let limit = 1024

    /// - Returns: `nil` for anything but one point in hexadecimal.
    static func point(_ body: [UInt8]) -> G1Point? {
        guard body.count <= limit else { return nil }
        let text = String(decoding: body.trimming(while: Answer.isBlank), as: UTF8.self)
        return Hex.decode(text).flatMap { try? G1Point(encoding: $0) }
    }
}

/// What the second pass brings: the proof that the verdict is asked for with (MPIN 5.9). Pure.
struct PassTwoAnswer {
    /// As it came, with members that are not known here.
    let bytes: [UInt8]
    /// `nil` if the back end issued none.
    let password: SecretBytes?

    init(_ answer: Answer) throws(MPinError) {
        _ = try answer.requiredText("authOTT")
        bytes = answer.bytes
        password = try answer.text("OTP").flatMap { $0.isEmpty ? nil : SecretBytes(utf8: $0) }
    }

    /// The body of the request for the verdict (MPIN 5.10).
    var verdictBody: [UInt8] { Array(#"{"mpinResponse":"#.utf8) + bytes + Array("}".utf8) }
}

extension MPinOneTimePassword {
    /// - Parameter verdict: whose times are in milliseconds (MPIN 5.10).
    init(_ password: SecretBytes?, _ verdict: JSON) {
        func number(_ name: String) -> Int64 {
            verdict[name]?.number.flatMap { Int64(exactly: $0.rounded(.towardZero)) } ?? 0
        }
        (expireTime, ttlSeconds) = (number("expireTime") / 1000, number("ttlSeconds"))
        nowTime = number("nowTime") / 1000
        self.password = password
        let isTimed = number("expireTime") != 0 && ttlSeconds != 0 && number("nowTime") != 0
        status = password == nil ? .flowError : isTimed ? .ok : .responseParseError
    }
}

extension MPinSessionDetails {
    /// Both spellings of MPIN 5.11.
    init(_ answer: Answer) throws(MPinError) {
        func text(_ name: String, _ other: String) throws(MPinError) -> String {
            var found = try answer.text(name)
            if found == nil { found = try answer.text(other) }
            return DisplayText.oneLine(found ?? "", limit: 1024)
        }
        prerollID = try text("prerollId", "PrerollId")
        appName = try text("appName", "AppName")
        appLogoURL = try text("appLogoURL", "AppLogoUrl")
    }
}

extension MPinServiceDetails {
    /// - Throws: ``MPinError/answerInvalid(place:reason:)`` for any type but `online` too
    init(_ answer: Answer) throws(MPinError) {
        func text(_ name: String) throws(MPinError) -> String {
            guard let text = try answer.text(name) else {
                throw .answerInvalid(place: answer.place, reason: "its \(name) is missing")
            }
            return DisplayText.oneLine(text, limit: 1024)
        }
        (name, url, prefix) = (try text("name"), try text("url"), try text("rps_prefix"))
        logoURL = try text("logo_url")
        guard try text("type") == "online" else {
            throw .answerInvalid(place: answer.place, reason: "the service is not one for logins online")
        }
        guard !url.isEmpty else { throw .answerInvalid(place: answer.place, reason: "its url is empty") }
    }
}

extension LogOutOrder {
    /// - Returns: `nil` if a login in a browser cannot be ended from here.
    init?(_ verdict: JSON) {
        guard let url = verdict["logoutURL"]?.string, !url.isEmpty, let data = verdict["logoutData"],
            data.object != nil
        else { return nil }
        self.init(url: url, body: data.bytes)
    }
}
