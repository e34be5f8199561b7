import Cryptography
import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import Testing
import Vault

@testable import MPin

/// Against the lab, which computes and checks requests by itself.
@Suite("An M-Pin account at the lab", .serialized, .timeLimit(.minutes(8)))
struct LabTests {
    private func withLab(_ test: (Lab, MPinBackends, MPinConfiguration) async throws -> Void) async throws {
        var settings = LabConfiguration()
        settings.broker = false
        let lab = try await Lab.start(settings)
        let folder = FileManager.default.temporaryDirectory.appending(path: "mpin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let outcome: Result<Void, any Error>
        do {
            let vault = try await Vault.open(
                at: folder.appending(path: "vault.db").path,
                with: [DevelopmentKeyFile(folder.appending(path: "vault.key").path)], creating: true)
            var configuration = MPinConfiguration(url: lab.mpinURL)
            configuration.authorities = lab.caCertificatePEM
            // What is in memory between the steps of a login outlives those of a slow machine.
            try await lab.changeMPinPolicy { ($0.passLife, $0.verdictLife) = (3600, 3600) }
            let accounts = MPinBackends(vault: vault, client: HTTPClient()) { Date() }
            outcome = .success(try await test(lab, accounts, configuration))
            await vault.close()
        } catch {
            outcome = .failure(error)
        }
        let violations = await lab.mpinViolations()
        await lab.stop()
        #expect(violations == [])
        try outcome.get()
    }

    private func register(_ id: String, at backend: MPinBackend, of lab: Lab) async throws -> MPinUser {
        var user = try await backend.startRegistration(backend.makeUser(id, deviceName: "board"))
        if user.state == .startedRegistration {
            #expect(await status { _ = try await backend.confirmRegistration(user) } == .identityNotVerified)
            try await lab.activateMPin(id)
        }
        user = try await backend.confirmRegistration(user)
        return try await backend.finishRegistration(user, pin: MPinBackend.pin)
    }

    @Test(
        "an M-Pin user registers, logs in, and is blocked, whatever the settings look like (MPIN 5.14)",
        arguments: MPinPolicy.SettingsForm.allCases, [true, false])
    func life(form: MPinPolicy.SettingsForm, usesPermits: Bool) async throws {
        try await withLab { lab, accounts, configuration in
            try await lab.changeMPinPolicy { policy in
                (policy.settingsForm, policy.usePermits) = (form, usesPermits)
            }
            let backend = try await accounts.add("lab", configuration)
            let user = try await register("alice@example.org", at: backend, of: lab)
            try await backend.logIn(user)
            let password = try await backend.finishAuthenticationOTP(user, pin: MPinBackend.pin)
            #expect(password.status == .ok && password.password?.count == 6)
            for _ in 1...3 {
                let found = await status { try await backend.logIn(user, MPinBackend.wrongPIN) }
                #expect(found == .incorrectPIN)
            }
            #expect(try await backend.user("alice@example.org").state == .blocked)
        }
    }

    @Test(
        "an M-Pin user logs a browser in by its number or its QR code, and out again (MPIN 5.11, 5.12)",
        arguments: [false, true])
    func browser(hasQRCode: Bool) async throws {
        try await withLab { lab, accounts, configuration in
            let backend = try await accounts.add("lab", configuration)
            let user = try await register("alice@example.org", at: backend, of: lab)
            let browser = try await lab.openMPinBrowser(withQRCode: hasQRCode)
            if hasQRCode {
                _ = try await backend.sessionDetails(browser.code)
                try await backend.startAuthentication(user, accessCode: browser.code)
            } else {
                try await backend.checkAccessNumber(browser.code)
                try await backend.startAuthentication(user)
            }
            try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: browser.code)
            #expect(await lab.mpinBrowsers().map(\.status) == [.authenticate])
            #expect(try await backend.canLogOut(user))
            let isDone = try await backend.logOut(user)
            #expect(isDone)
        }
    }

    @Test("an M-Pin user registers with a code, and learns of being revoked or having to register again (MPIN 8)")
    func administration() async throws {
        try await withLab { lab, accounts, configuration in
            let backend = try await accounts.add("lab", configuration)
            let code = try await lab.issueMPinCode(for: "alice@example.org")
            let started = try await backend.startRegistration(
                backend.makeUser("alice@example.org"), activateCode: SecretBytes(utf8: code))
            #expect(started.state == .activated)
            let user = try await backend.finishRegistration(
                backend.confirmRegistration(started), pin: MPinBackend.pin)
            for code in [401, 403, 410] {
                try await lab.changeMPinPolicy { $0.revocationStatus = code }
                try await lab.changeMPin(user.id, .revoke)
                #expect(await status { try await backend.logIn(user) } == .revoked)
                try await lab.changeMPin(user.id, .restore)
            }
            try await backend.logIn(user)
            try await lab.changeMPin(user.id, .expire)
            #expect(await status { try await backend.logIn(user) } == .clientSecretExpired)
            #expect(try await backend.user(user.id).state == .registered)
        }
    }
}
