import AgentCore
import GatewayServices
import Groundwork
import HTTPClient
import LocalAPI

/// The devices of a user and the metadata of this one, and the gateway's enterprise applications.
extension ServicesFeature {
    func addDeviceRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/devices", needs: .operate,
            .init(
                "The devices that the gateway lists for the user, or for this board",
                answer: .object(
                    [
                        "devices": .array(
                            of: .openObject("a device as the gateway describes it"), "in the gateway's order")
                    ],
                    required: ["devices"]))
        ) { request in
            .json(["devices": .array(try await self.services(of: request).devices.devices())])
        }
        let attribute = Schema.object(
            ["name": .string("name of the attribute"), "value": .string("its value")], required: ["name", "value"])
        router.on(
            "GET", "/v1/device/metadata", needs: .operate,
            .init(
                "The attributes that the gateway keeps of this device",
                answer: .object(["metadata": .array(of: attribute, "ordered by name")], required: ["metadata"]))
        ) { request in
            let attributes = try await self.services(of: request).devices.attributes()
            return .json([
                "metadata": .array(attributes.map { ["name": .string($0.name), "value": .string($0.value)] })
            ])
        }
        router.on(
            "POST", "/v1/device/metadata", needs: .operate,
            .init(
                "Set an attribute, or replace its value",
                body: ["name": .string("name of the attribute"), "value": .string("its value")],
                required: ["name", "value"], answer: attribute)
        ) { request in
            let body = RequestBody(request)
            let (name, value) = (try body.string("name"), try body.string("value"))
            try await self.services(of: request).devices.set(name, to: value)
            return .json(["name": .string(name), "value": .string(value)])
        }
        router.on(
            "DELETE", "/v1/device/metadata", needs: .operate,
            .init("Delete all attributes", answer: Self.deletedSchema)
        ) { request in
            try await self.services(of: request).devices.deleteAll()
            return .json(["deleted": "all"])
        }
        let name = ["name": Schema.string("name of the attribute")]
        router.on(
            "GET", "/v1/device/metadata/item", needs: .operate,
            .init(
                "One attribute; null if the device has none of this name", query: name, required: ["name"],
                answer: .object(
                    ["name": .string("name of the attribute"), "value": .string("its value").orNull],
                    required: ["name", "value"]))
        ) { request in
            let name = request.query["name"] ?? ""
            let value = try await self.services(of: request).devices.value(of: name)
            return .json(["name": .string(name), "value": value.map(JSON.string) ?? .null])
        }
        router.on(
            "DELETE", "/v1/device/metadata/item", needs: .operate,
            .init(
                "Delete an attribute; one that does not exist counts as deleted", query: name, required: ["name"],
                answer: Self.deletedSchema)
        ) { request in
            let name = request.query["name"] ?? ""
            try await self.services(of: request).devices.delete(name)
            return .json(["deleted": .string(name)])
        }
    }

    func addAppRoutes(to router: inout Router) {
        let app = Schema.object(
            [
                "id": .string("identifier"), "name": .string("for people"), "iconURL": .string("address of its icon"),
                "authURL": .string("address of a web application"),
                "nativeURL": .string("address of a native phone application"),
                "custom": .openObject("other information from the gateway"),
            ], required: ["id"])
        router.on(
            "GET", "/v1/apps", needs: .operate,
            .init(
                "The enterprise applications that the gateway offers",
                answer: .object(["apps": .array(of: app, "in the gateway's order")], required: ["apps"]))
        ) { request in
            .json(["apps": .array(try await self.services(of: request).apps.list().map(\.json))])
        }
        router.on(
            "GET", "/v1/apps/{app}/icon", needs: .operate,
            .init(
                "The icon of an application, fetched without credentials",
                answer: .object(
                    ["mediaType": .string("media type of the icon"), "bytes": .base64("the icon")],
                    required: ["mediaType", "bytes"]))
        ) { request in
            let icon = try await self.services(of: request).apps.icon(of: request.parameters["app"] ?? "")
            return .json(["mediaType": .string(icon.mediaType), "bytes": .string(Base64.encode(icon.body))])
        }
        router.on(
            "POST", "/v1/apps/{app}/open", needs: .operate,
            .init(
                "Load the page of a web application with the user's access token",
                answer: .object(
                    [
                        "status": .integer("HTTP status", in: 200...399),
                        "mediaType": .string("media type of the page"),
                        "bytes": Schema.base64("the page").asSensitive,
                        "location": Schema.string("address of the page, if it is elsewhere").asSensitive,
                    ], required: ["status", "mediaType", "bytes"]))
        ) { request in
            let page = try await self.services(of: request).apps.open(request.parameters["app"] ?? "")
            var members: [String: JSON] = [
                "status": .integer(Int64(page.status)), "mediaType": .string(page.mediaType),
                "bytes": .string(Base64.encode(page.body)),
            ]
            members["location"] = page.headers.first("Location").map(JSON.string)
            return .json(.object(members))
        }
    }
}

extension HTTPResponse {
    fileprivate var mediaType: String { headers.first("Content-Type") ?? "application/octet-stream" }
}

extension EnterpriseApps.App {
    fileprivate var json: JSON {
        var members: [String: JSON] = ["id": .string(id)]
        members["name"] = name.map(JSON.string)
        members["iconURL"] = iconURL.map(JSON.string)
        members["authURL"] = authURL.map(JSON.string)
        members["nativeURL"] = nativeURL.map(JSON.string)
        if custom?.object != nil { members["custom"] = custom }
        return .object(members)
    }
}
