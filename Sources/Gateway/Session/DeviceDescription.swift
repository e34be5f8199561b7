import Groundwork

/// What the gateway is told about this board besides its identifier.
public struct DeviceDescription: Sendable, Equatable {
    /// What people call it, for the header `device-name` (MAG 4.2).
    public let name: String
    /// What it is, for `DC` of the certificate request (MAG 4.1).
    public let model: String

    public init(name: String, model: String) {
        self.name = name
        self.model = model
    }

    /// ``model`` with ASCII letters and digits only, and `Undefined` where none is left.
    var modelComponent: String {
        let kept = String(decoding: model.utf8.filter(ASCII.isLetterOrDigit).prefix(64), as: UTF8.self)
        return kept.isEmpty ? "Undefined" : kept
    }
}
