import Cryptography
import Foundation
import Groundwork

/// The calls behind the admin page and the `latchkey-lab` command. All speak JSON.
struct AdminAPI {
    let lab: Lab

    /// Invalid input.
    struct BadInput: Explained {
        var text: String

        var explanation: Explanation { Explanation("lab.bad-input", .invalidInput, text) }

        static let examples = [BadInput(text: "FAULT")]
    }

    /// - Parameter query: for `state`: `telemetry=no` omits readings from the messages, `match` keeps only messages
    ///   whose topic, sender or payload contains this text.
    /// - Returns: `nil` if there is no such call.
    /// - Throws: ``BadInput``, ``LabError``
    func call(_ method: String, _ path: [String], _ query: Parameters?, _ input: JSON) async throws -> JSON? {
        switch (method, path.first, path.count) {
        case ("GET", "state", 1):
            return await state(showing: MessageFilter(telemetry: query?["telemetry"] != "no", text: query?["match"]))
        case ("POST", "enrollments", 1): return try await enroll(input)
        case ("POST", "clients", 1): return try await makeClient(input)
        case ("POST", "faults", 1):
            lab.inject(try FaultText.fault(from: input))
            return [:]
        case ("DELETE", "faults", 1):
            lab.clearFaults()
            return [:]
        case ("POST", "face", 1):
            guard let face = input["face"]?.string.flatMap(ServerFace.init(rawValue:)) else {
                throw BadInput(
                    text: "face must be one of \(ServerFace.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            try await lab.show(face)
            return [:]
        case ("POST", "gateway", 2), ("POST", "broker", 2): return try await run(path[0], path[1])
        case ("POST", "clock", 1):
            guard let seconds = input["advance_seconds"]?.integer, abs(seconds) <= 10 * 366 * 86_400 else {
                throw BadInput(text: "advance_seconds must be a number of at most ten years")
            }
            lab.advanceClock(by: .seconds(seconds))
            return [:]
        case ("POST", "tokens", 1):
            guard let user = input["user"]?.string else { throw BadInput(text: "user is missing") }
            return ["token": .string(try await lab.mintToken(for: user))]
        case ("POST", "otp", 1): return try await demandOneTimePasswords(input)
        case ("POST", "authorizations", 3): return try await decide(path[1], path[2], input)
        case (_, "mpin", _): return try await mpin(method, path.dropFirst(), input)
        case ("POST", "devices", 3), ("DELETE", "devices", 2):
            return try await device(path[1], method == "DELETE" ? "remove" : path[2])
        default: return nil
        }
    }

    private func enroll(_ input: JSON) async throws -> JSON {
        let url = try await lab.mintEnrollmentURL(for: input["client_id"]?.string)
        return [
            "url": .string(url), "qr_svg": .string(QRCode(url)?.svg ?? ""),
            "expires_in": .integer(Int64(lab.configuration.lives.enrollmentURL)),
        ]
    }

    private func makeClient(_ input: JSON) async throws -> JSON {
        guard let name = input["name"]?.string, !name.isEmpty, name.utf8.count <= 64 else {
            throw BadInput(text: "name must be a text of at most 64 bytes")
        }
        let client = try await lab.makeClient(named: name, user: input["user"]?.string)
        return [
            "client_id": .string(client.clientID), "user_name": .string(client.userName),
            "access_token": .string(client.accessToken), "device_id": .string(client.deviceID),
            "mag_identifier": .string(client.magIdentifier), "certificate": .string(client.certificatePEM),
            "private_key": .string(client.privateKeyPEM), "ca": .string(lab.caCertificate.pem),
            "host": .string(lab.configuration.host), "port": lab.brokerPort.map { .integer(Int64($0)) } ?? .null,
            "prefix": .string(lab.configuration.prefix),
        ]
    }

    private func run(_ part: String, _ action: String) async throws -> JSON {
        switch (part, action) {
        case ("gateway", "stop"): await lab.suspend()
        case ("gateway", "start"): try await lab.resume()
        case ("broker", "stop"): await lab.stopBroker()
        case ("broker", "kill"): await lab.stopBroker(abruptly: true)
        case ("broker", "start"): try await lab.startBroker()
        case ("broker", "suspend"): await lab.suspendBroker()
        case ("broker", "resume"): await lab.resumeBroker()
        default:
            let known = part == "gateway" ? "stop or start" : "stop, start, suspend, resume or kill"
            throw BadInput(text: "the \(part) has no action \(action), only \(known)")
        }
        return [:]
    }

    private func decide(_ session: String, _ action: String, _ input: JSON) async throws -> JSON? {
        switch action {
        case "authorize":
            guard let user = input["user"]?.string else { throw BadInput(text: "user is missing") }
            try await lab.authorize(session, as: user)
        case "refuse": try await lab.refuse(session)
        default: return nil
        }
        return [:]
    }

    private func device(_ magIdentifier: String, _ action: String) async throws -> JSON? {
        switch action {
        case "activate": try await lab.activate(magIdentifier: magIdentifier)
        case "remove": try await lab.removeDevice(magIdentifier: magIdentifier)
        case "revoke-tokens": try await lab.revokeTokens(of: magIdentifier)
        case "disable-tokens": try await lab.disableTokens(of: magIdentifier)
        default: return nil
        }
        return [:]
    }
}
