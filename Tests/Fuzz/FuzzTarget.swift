/// A parser of bytes from outside, and what must hold whatever these bytes are.
struct FuzzTarget: Sendable {
    enum Verdict: Sendable, Equatable {
        case accepted
        case refused
    }

    /// Also the name of the folder with its seeds.
    let name: String
    /// - Throws: ``Violation`` when the parser breaks a promise. What the parser itself throws is a refusal.
    let check: @Sendable ([UInt8]) throws(Violation) -> Verdict

    static let all =
        groundwork + cryptography + vault + vaultHardware + vaultObjects + http + oauth + gateway + gatewayServices
        + messaging
        + messagingWays
        + settings + board
        + bluetooth + network
        + proximity + localAPI + agent + ofPrograms + mpin + mpinService + homeAssistant

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A promise that a parser broke.
struct Violation: Error, Equatable, CustomStringConvertible {
    let description: String
}

/// - Parameter promise: what should have held, as a sentence.
func require(_ holds: Bool, _ promise: @autoclosure () -> String) throws(Violation) {
    guard holds else { throw Violation(description: "broken promise: \(promise())") }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
