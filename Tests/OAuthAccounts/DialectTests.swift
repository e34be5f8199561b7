import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import TestSupport
import Testing

@testable import OAuthAccounts

@Suite("Dialects of OAuth servers", .timeLimit(.minutes(8)))
struct DialectTests {
    @Test("a code of a device is shown with the address that its draft called verification_url")
    func verificationURL() async throws {
        var device = ChosenServer.device
        device["verification_url"] = device.removeValue(forKey: "verification_uri")
        let (server, account) = try await ChosenServer.canned(["POST /device": ["json": .object(device)]])
        let begun = try await account.beginDevice()
        #expect(begun.verificationURI == server.base + "/activate")
        _ = try await account.awaitDevice(begun)
        #expect(try await account.token().value.exposedText() == "ACCESS-1")
    }

    @Test("an error with status 200 is a refusal: pending is waited for")
    func pendingWithSuccess() async throws {
        let pending: JSON = ["json": ["error": "authorization_pending"]]
        let (server, account) = try await ChosenServer.canned([
            "POST /token": [pending, pending, ["json": .object(ChosenServer.token)]]
        ])
        try await account.logInByDevice()
        #expect(try await server.count("POST /token") == 3)
    }

    @Test("an error with status 200 is a refusal: denial ends the login, and a code is not given")
    func deniedWithSuccess() async throws {
        let (server, account) = try await ChosenServer.canned([
            "POST /token": ["json": ["error": "access_denied", "error_description": "the person said no"]]
        ])
        await #expect(throws: OAuthAccountError.deviceDenied) { try await account.logInByDevice() }
        try await server.can(["POST /device": ["json": ["error": "device_flow_disabled"]]])
        let refusal = OAuthRefusal(status: 200, error: "device_flow_disabled", text: nil)
        await #expect(throws: OAuthAccountError.refused(endpoint: "device_authorization_endpoint", refusal)) {
            try await account.beginDevice()
        }
    }
}
