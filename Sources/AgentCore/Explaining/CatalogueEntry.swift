import Groundwork

/// What `latchkey explain` shows for one name, without an actual error.
package struct CatalogueEntry: Sendable, Equatable {
    package enum Category: String, Sendable, CaseIterable {
        /// A code of this program's errors.
        case error
        /// The name of an event.
        case event
        /// A number of the gateway's `x-ca-err` header, or its last three digits.
        case gatewayNumber = "gateway-number"
        /// An error code of RFC 6749 and its family.
        case oauthError = "oauth-error"
    }

    /// One form of an error's text: capitals stand for what only an actual error knows.
    package struct Wording: Sendable, Equatable {
        package let message: String
        package let remedy: String?

        package init(message: String, remedy: String?) {
            self.message = message
            self.remedy = remedy
        }
    }

    package let name: String
    package let category: Category
    /// One sentence without its period; `nil` if the wordings contain it.
    package var meaning: String?
    /// Where it comes from: an interface of the gateway, or a standard and its section.
    package var source: String?
    /// The code of this program's errors that a number or a standard's code leads to.
    package var code: String?
    package var kind: ExplanationKind?
    package var wordings: [Wording] = []
    /// The numbers that the package clients give it (MAG 8.6 and MAG 13.4), in order.
    package var numbers: [Int] = []
    /// What the public clients of other systems call it.
    package var clientNumbers: [ClientNumber] = []
    /// What the package clients of M-Pin call it (MPIN 8).
    package var status: String?

    package init(
        name: String, category: Category, meaning: String? = nil, source: String? = nil, code: String? = nil,
        kind: ExplanationKind? = nil, wordings: [Wording] = []
    ) {
        self.name = name
        self.category = category
        self.meaning = meaning
        self.source = source
        self.code = code
        self.kind = kind
        self.wordings = wordings
    }

    package var json: JSON {
        var members: [String: JSON] = ["name": .string(name), "category": .string(category.rawValue)]
        members["meaning"] = meaning.map(JSON.string)
        members["source"] = source.map(JSON.string)
        members["code"] = code.map(JSON.string)
        if let kind {
            members["kind"] = .string(kind.rawValue)
            members["kindMeaning"] = .string(kind.meaning)
            members["exitStatus"] = .integer(Int64(kind.exitStatus.rawValue))
            members["httpStatus"] = .integer(Int64(kind.httpStatus))
        }
        if !wordings.isEmpty {
            members["messages"] = .array(
                wordings.map { wording in
                    var said: [String: JSON] = ["message": .string(wording.message)]
                    said["remedy"] = wording.remedy.map(JSON.string)
                    return .object(said)
                })
        }
        if !numbers.isEmpty { members["numbers"] = .array(numbers.map { .integer(Int64($0)) }) }
        if !clientNumbers.isEmpty { members["clientNumbers"] = .array(clientNumbers.map(\.json)) }
        members["status"] = status.map(JSON.string)
        return .object(members)
    }
}

extension CatalogueEntry {
    /// - Parameter explanations: at least one, all of one code.
    package init(code: String, _ explanations: [Explanation]) {
        self.init(
            name: code, category: .error, meaning: explanations.lazy.compactMap(\.meaning).first,
            kind: explanations.first?.kind)
        for explanation in explanations {
            let wording = Wording(message: explanation.message, remedy: explanation.remedy)
            if !wordings.contains(wording) { wordings.append(wording) }
        }
        // A number that the gateway sends has its own entry.
        numbers = Set(explanations.compactMap(\.gateway).filter { $0.domain.isOfClient }.map(\.number)).sorted()
        for number in explanations.flatMap(\.numbers) where !clientNumbers.contains(number) {
            clientNumbers.append(number)
        }
        status = explanations.lazy.compactMap(\.status).first
    }
}
