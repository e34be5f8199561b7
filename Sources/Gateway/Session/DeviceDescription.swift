import Groundwork

/// What the board reports to the gateway about itself besides its identifier.
public struct DeviceDescription: Sendable, Equatable {
    /// The board's name for people, for the header `device-name` (MAG 4.2).
    public let name: String
    /// The board's model, for `DC` of the certificate request (MAG 4.1).
    public let model: String

    public init(name: String, model: String) {
        self.name = name
        self.model = model
    }

    /// ``model`` reduced to its ASCII letters and digits, or `Undefined` if it has none.
    var modelComponent: String {
        let kept = String(decoding: model.utf8.filter(ASCII.isLetterOrDigit).prefix(64), as: UTF8.self)
        return kept.isEmpty ? "Undefined" : kept
    }
}
