import Foundation
import Groundwork

/// The M-Pin back end and its D-TAs (MPIN 5). What is behind each endpoint is in its own file.
extension GatewayCore {
    mutating func answerMPin(_ request: WireRequest, at endpoint: Endpoint, now: Date) -> WireResponse {
        do {
            mpin.sweep(now)
            var answer = try routeMPin(request, at: endpoint, now: now)
            if answer.status == 200 { request.lie?.change(&answer, at: endpoint) }
            return answer
        } catch let refusal as MPinRefusal {
            if refusal.isViolation { mpin.note("\(endpoint.rawValue): \(refusal.text)") }
            var answer = WireResponse.json(["message": .string(refusal.text)], status: refusal.status)
            if refusal.isViolation { answer.note = "against the protocol: \(refusal.text)" }
            return answer
        } catch {
            return .json(["message": .string("\(error)")], status: 500)
        }
    }

    private mutating func routeMPin(_ request: WireRequest, at endpoint: Endpoint, now: Date) throws -> WireResponse {
        if let answer = try answerBrowser(request, at: endpoint, now: now) { return answer }
        try checkMPinHeaders(request, at: endpoint)
        switch endpoint {
        case .mpinService: return serviceDetails(now: now)
        case .mpinSettings: return try clientSettings()
        case .mpinUser: return try registerMPinUser(request, now: now)
        case .mpinSignature: return try clientSecretShare(request, now: now)
        case .mpinSecret: return try secondSecretShare(request, now: now)
        case .mpinPermit: return try permitShare(request, now: now)
        case .mpinStorage: return try storedPermit(request, now: now)
        case .mpinPermitShare: return try secondPermitShare(request, now: now)
        case .mpinPassOne: return try passOne(request, now: now)
        case .mpinPassTwo: return try passTwo(request, now: now)
        case .mpinVerdict: return try verdict(request, now: now)
        case .mpinMobileVerdict: return try mobileVerdict(request, now: now)
        case .mpinCodeStatus: return try codeStatus(request, now: now)
        case .mpinLogout: return try logOutOfMPin(request)
        default: return .json(["message": "no such endpoint"], status: 404)
        }
    }
}
