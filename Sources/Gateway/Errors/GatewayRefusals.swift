import HTTPClient
import OAuth

/// The table of `x-ca-err` numbers (MAG 6.4). Pure.
struct GatewayRefusals: RefusalTable {
    typealias Refusal = Gateway.Refusal

    /// The refused operation.
    let operation: GatewayOperation

    func refusal(in response: HTTPResponse) -> Refusal? { Refusal(response, to: operation) }

    func subject(of refusal: Refusal) -> RefusalSubject {
        // About the client or its device, not about the grant (MAG 5.3).
        if [3_003_107, 3_003_115, 3_003_201, 3_003_206].contains(refusal.code) { return .client }
        if refusal.status >= 500 || refusal.status == 429 { return .passing }
        return [.deviceNotActive, .tokenLimitReached].contains(refusal.meaning) ? .passing : .grant
    }
}
