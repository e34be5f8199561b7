import Foundation
import Groundwork

/// The content of the admin page as one JSON object. Tokens are shortened; it contains no secrets or keys but the
/// one-time passwords, which the lab sends nowhere else.
extension AdminAPI {
    /// The last events and messages that are shown, newest first.
    private static let shown = 100

    func state(showing filter: MessageFilter = MessageFilter()) async -> JSON {
        let sessions = await lab.brokerSessions
        let users = await lab.loggedIn()
        let counts = lab.requestCounts.map { ($0.key.rawValue, JSON.integer(Int64($0.value))) }
        return [
            "lab": [
                "base_url": .string(lab.baseURL), "host": .string(lab.configuration.host),
                "port": .integer(Int64(lab.port)), "broker_port": lab.brokerPort.map { .integer(Int64($0)) } ?? .null,
                "prefix": .string(lab.configuration.prefix), "now": .integer(lab.clock.now.epochSeconds),
                "face": .string(await lab.face.rawValue), "connections": .integer(Int64(lab.connections)),
                "clients": .array(lab.configuration.masterClients.map { .string($0.clientID) }),
            ],
            "counts": .object(Dictionary(uniqueKeysWithValues: counts)),
            "devices": .array(
                await lab.devices().map { device($0, users: users[$0.magIdentifier] ?? [], sessions: sessions) }),
            "users": .array(lab.configuration.users.map { .string($0.name) }),
            "authorizations": .array(await lab.authorizations().reversed().prefix(Self.shown).map(authorization)),
            "one_time_passwords": await oneTimePasswords(),
            "mpin": await mpinState(),
            "tokens": .array(await lab.accessTokens().reversed().prefix(Self.shown).map(token)),
            "sessions": .array(
                sessions.sorted { $0.value < $1.value }.map { id, since in
                    ["client_id": .string(id), "since": .integer(since.epochSeconds)]
                }),
            "messages": .array(lab.messages.filter(filter.passes).suffix(Self.shown).reversed().map(message)),
            "events": .array(lab.log.suffix(Self.shown).reversed().map(event)),
            "faults": .array(lab.activeFaults.map(FaultText.json)),
        ]
    }

    private func device(_ device: LabDevice, users: [String], sessions: [String: Date]) -> JSON {
        [
            "mag_identifier": .string(device.magIdentifier), "device_id": .string(device.deviceID),
            "name": .string(device.name), "user": device.user.map(JSON.string) ?? .null,
            "logged_in": .array(users.map(JSON.string)), "status": .string(device.status.rawValue),
            "registered_at": .integer(device.registeredAt.epochSeconds),
            "certificate_serial": .string(device.certificateSerial),
            "certificate_ends": .integer(device.certificateEnds.epochSeconds),
            "connected": .bool(sessions.keys.contains { $0.hasPrefix(device.magIdentifier + "::") }),
        ]
    }

    private func authorization(_ authorization: LabAuthorization) -> JSON {
        [
            "id": .string(authorization.id), "mag_identifier": authorization.magIdentifier.map(JSON.string) ?? .null,
            "scopes": .array(authorization.scopes.map(JSON.string)), "status": .string(authorization.status.rawValue),
            "user": authorization.user.map(JSON.string) ?? .null,
            "expires_at": .integer(authorization.expiresAt.epochSeconds),
        ]
    }

    private func token(_ token: LabAccessToken) -> JSON {
        [
            "token": .string(token.value.prefix(6) + "…"), "mag_identifier": .string(token.magIdentifier),
            "user": token.user.map(JSON.string) ?? .null, "scopes": .array(token.scopes.map(JSON.string)),
            "issued_at": .integer(token.issuedAt.epochSeconds), "expires_at": .integer(token.expiresAt.epochSeconds),
            "disabled": .bool(token.isDisabled),
        ]
    }

    private func message(_ message: LabMessage) -> JSON {
        [
            "time": .integer(message.time.epochSeconds), "sender": .string(message.sender),
            "topic": .string(message.topic), "qos": .integer(Int64(message.qos)), "retained": .bool(message.retained),
            "size": .integer(Int64(message.size)), "payload": .string(String(decoding: message.payload, as: UTF8.self)),
        ]
    }

    private func event(_ event: LabEvent) -> JSON {
        [
            "number": .integer(Int64(event.number)), "time": .integer(event.time.epochSeconds),
            "kind": .string(event.kind.rawValue), "endpoint": event.endpoint.map { .string($0.rawValue) } ?? .null,
            "status": event.status.map { .integer(Int64($0)) } ?? .null,
            "error_code": event.errorCode.map { .integer(Int64($0)) } ?? .null,
            "mag_identifier": event.magIdentifier.map(JSON.string) ?? .null, "text": .string(event.text),
        ]
    }
}
