import Foundation
import Groundwork

/// What the M-Pin back end answers in place of what was asked.
struct MPinRefusal: Error, Equatable {
    var status: Int
    var text: String
    /// Whether no right client would have asked that way; such requests are remembered.
    var isViolation = false

    /// For a request that is not of the form of the protocol.
    static func form(_ status: Int, _ text: String) -> MPinRefusal {
        MPinRefusal(status: status, text: text, isViolation: true)
    }

    static func form(_ text: String) -> MPinRefusal { form(400, text) }
}

/// A body with exactly the members that it has to have (MPIN 5, checklist 18, 24).
struct MPinBody {
    let members: [String: JSON]
    private let status: Int

    /// - Parameter status: of the refusal if the form is wrong.
    /// - Throws: ``MPinRefusal``
    init(_ request: WireRequest, _ required: Set<String>, optional: Set<String> = [], status: Int = 400) throws {
        guard let members = (try? JSON(parsing: request.body))?.object else {
            throw MPinRefusal.form(status, "the body is not a JSON object")
        }
        for name in required where members[name] == nil { throw MPinRefusal.form(status, "\(name) is missing") }
        for name in members.keys where !required.contains(name) && !optional.contains(name) {
            throw MPinRefusal.form(status, "\(name) does not belong there")
        }
        for name in optional where members[name] == "" {
            throw MPinRefusal.form(status, "\(name) is empty, so it must not be there")
        }
        self.members = members
        self.status = status
    }

    func text(_ name: String) throws -> String {
        guard let text = members[name]?.string, !text.isEmpty else {
            throw MPinRefusal.form(status, "\(name) is not a text, or is empty")
        }
        return text
    }

    func optionalText(_ name: String) throws -> String? { try members[name].map { _ in try text(name) } }

    func flag(_ name: String) throws -> Bool {
        guard let flag = members[name]?.bool else { throw MPinRefusal.form(status, "\(name) is not true or false") }
        return flag
    }

    /// Throws unless the member is this number.
    func require(_ name: String, _ number: Int64) throws {
        guard members[name] == .integer(number) else {
            throw MPinRefusal.form(status, "\(name) is not the number \(number)")
        }
    }

    /// Lower-case hexadecimal.
    func hex(_ name: String, count: Int? = nil) throws -> [UInt8] {
        guard let bytes = MPinNumber.bytes(try text(name), count: count) else {
            throw MPinRefusal.form(status, "\(name) is not in lower-case hexadecimal, or has the wrong length")
        }
        return bytes
    }
}

extension GatewayCore {
    /// Headers that every request of a client has to have, or must not have (MPIN 5.1, checklist 16, 32).
    func checkMPinHeaders(_ request: WireRequest, at endpoint: Endpoint) throws {
        let policy = mpinPolicy
        for (name, value) in policy.headers where request.header(name) != value || request.headerCount(name) != 1 {
            throw MPinRefusal.form("the header \(name) is missing or is not as agreed")
        }
        if let id = policy.clientID {
            let given = request.header("X-MIRACL-Client-ID")
            // It may be set after the back end was.
            let isEarly = given == nil && [.mpinService, .mpinSettings].contains(endpoint)
            guard given == id || isEarly else {
                throw MPinRefusal.form("the header X-MIRACL-Client-ID is missing or is not as agreed")
            }
        }
        let (type, accept) = (request.header("Content-Type"), request.header("Accept"))
        if request.method == "GET" {
            guard request.body.isEmpty else { throw MPinRefusal.form("a GET has no body") }
            guard type == nil, accept != "text/plain" else {
                throw MPinRefusal.form("a GET has neither Content-Type nor Accept: text/plain")
            }
        } else {
            guard type?.lowercased().filter({ $0 != " " }) == "application/json;charset=utf-8" else {
                throw MPinRefusal.form("the header Content-Type is not application/json; charset=UTF-8")
            }
            guard accept == "text/plain" else { throw MPinRefusal.form("the header Accept is not text/plain") }
        }
    }

    /// The part of the path that follows the endpoint's, as an M-Pin ID in hexadecimal.
    func mpinID(in request: WireRequest, at endpoint: Endpoint) throws -> String {
        let id = String(request.path.dropFirst(endpoint.path.count + 1))
        guard MPinNumber.bytes(id) != nil else {
            throw MPinRefusal.form("the path does not end with an M-Pin ID in lower-case hexadecimal")
        }
        return id
    }

    /// The query's parameters, decoded, none of them twice.
    /// - Parameter status: of the refusal if the names are not these, but for `optional`.
    func mpinQuery(
        _ request: WireRequest, _ required: Set<String>, optional: Set<String> = [], status: Int
    ) throws -> [String: String] {
        var found: [String: String] = [:]
        for pair in request.query.split(separator: "&", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let value = parts[1].removingPercentEncoding, found[parts[0]] == nil else {
                throw MPinRefusal.form(status, "the query is not made of names and values, each once")
            }
            found[parts[0]] = value
        }
        let names = Set(found.keys)
        guard names.isSuperset(of: required), names.isSubset(of: required.union(optional)) else {
            throw MPinRefusal.form(status, "the query has \(names.sorted()), not \(required.sorted())")
        }
        return found
    }
}
