import Foundation
import Groundwork

/// E13: enterprise applications, with their icons and the page of one (MAG 12.2).
extension GatewayCore {
    /// Web applications; some lead to another page, a native one, one without any address, and one whose
    /// address is not at the gateway: a client must not send a token there.
    func enterpriseApps(_ request: WireRequest, now: Date) throws -> WireResponse {
        _ = try bearer(of: request, at: .enterpriseBrowser, scope: nil, now: now)
        func app(_ id: String, _ name: String, _ members: [String: JSON]) -> JSON {
            let common: [String: JSON] = [
                "id": .string(id), "name": .string(name), "custom": [:],
                "icon_url": .string("\(baseURL)\(Endpoint.appIcon.path)/\(id).png"),
            ]
            return ["app": .object(common.merging(members) { _, new in new })]
        }
        func web(_ id: String, _ name: String) -> JSON {
            app(id, name, ["auth_url": .string("\(baseURL)\(Endpoint.webApp.path)/\(id)")])
        }
        return .json([
            "enterprise-apps": [
                web("timesheet", "Timesheet"), web("hours", "Hours"), web("payroll", "Payroll"),
                web("portal", "Portal"), app("draft", "Draft", [:]),
                app("scanner", "Scanner", ["native_url": "labscanner://open"]),
                app("elsewhere", "Elsewhere", ["auth_url": "https://elsewhere.test/websso/authorize/elsewhere"]),
            ]
        ])
    }

    /// The page of a web application, for a user's token only.
    func webApp(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .webApp, scope: nil, now: now)
        guard let user = token.user else {
            throw GatewayFault(
                Endpoint.webApp.errorPrefix + 991, status: 401, "insufficient_scope",
                "The access token is not a user's")
        }
        let base = baseURL + Endpoint.webApp.path
        let redirections = [
            "hours": base + "/timesheet?from=hours", "payroll": "https://payroll.test/start",
            "portal": baseURL + Endpoint.enterpriseBrowser.path + "/websso/login",
        ]
        let id = request.path.dropFirst(Endpoint.webApp.path.count + 1)
        if let location = redirections[String(id)] {
            return WireResponse(status: 302, headers: [("Location", location), ("Cache-Control", "no-store")])
        }
        guard id == "timesheet" else {
            return .json(["error": "invalid_request", "error_description": "no such application"], status: 404)
        }
        return WireResponse(
            status: 200, headers: [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")],
            body: Array("<!DOCTYPE html><title>Timesheet</title><p>Timesheet of \(user)</p>\n".utf8))
    }

    /// Refuses credentials, which a client must not send for an icon.
    func appIcon(_ request: WireRequest) throws -> WireResponse {
        guard request.header("authorization") == nil, request.header("mag-identifier") == nil else {
            throw GatewayFault(
                Endpoint.appIcon.errorPrefix + 103, "invalid_request", "An icon is fetched without credentials")
        }
        guard request.path.hasSuffix(".png") else {
            return .json(["error": "invalid_request", "error_description": "no such icon"], status: 404)
        }
        return WireResponse(
            status: 200, headers: [("Content-Type", "image/png")], body: Base64.decode(LabPicture.base64) ?? [])
    }
}
