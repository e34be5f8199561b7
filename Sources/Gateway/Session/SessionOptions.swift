import Vault

/// How a session behaves, as the settings and people of the board want it.
public struct SessionOptions: Sendable, Equatable {
    /// Whether nothing is sent to the gateway or to any host: each request fails with ``GatewayError/stopped``.
    public var isStopped = false
    /// Whether the signatures of id_tokens are verified; their claims are in any case (MAG 5.5).
    public var verifiesIDTokens = true
    /// Where the key of the next registration is made. An identifier's key signs nothing, and is never in hardware.
    public var keyChoice = KeyChoice()

    public init() {}
}
