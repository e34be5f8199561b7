import Groundwork

@testable import Gateway

extension GatewayError {
    /// The number of MAG 13.4, where the error has one.
    var localCode: Int? {
        explanation.gateway.flatMap { $0.domain.isOfClient ? $0.number : nil }
    }
}
