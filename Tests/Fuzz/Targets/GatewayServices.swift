import Cryptography
import Groundwork

@testable import Directories
@testable import GatewayServices

extension FuzzTarget {
    /// What programs filter by, and what services answer.
    static let gatewayServices = [
        FuzzTarget(name: "scim-filter") { bytes throws(Violation) in
            guard let filter = try? SCIMFilter(text(bytes)) else { return .refused }
            for spelling in SCIMFilter.Spelling.allCases {
                guard let sent = try? filter.encoded(spelling) else { continue }
                try require(
                    sent.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "%") || $0 == 0x3D },
                    "a filter is one value of a query")
                guard let plain = PercentEncoding.decode(sent.utf8) else {
                    throw Violation(description: "broken promise: what is sent can be decoded")
                }
                // Parentheses that were not there make it longer and deeper.
                guard let read = try? SCIMFilter(text(plain)) else { continue }
                try require((try? read.encoded(spelling)) == sent, "it means the same when it is read again")
            }
            return .accepted
        },
        FuzzTarget(name: "stored-item") { bytes throws(Violation) in
            guard let item = try? CloudStorage.item(bytes, "key") else { return .refused }
            try require(item.value.count <= bytes.count, "a value is not longer than the answer")
            return .accepted
        },
        FuzzTarget(name: "sealed-item") { bytes throws(Violation) in
            guard ItemSeal.isSealed(bytes) else { return .refused }
            let seal = ItemSeal(SecretBytes([UInt8](repeating: 7, count: AESGCM.keyBytes)))
            let place = ItemSeal.Place(segment: .user, user: "alice", key: "key")
            guard let item = try? seal.open(bytes, at: place) else { return .refused }
            try require(item.value.count < bytes.count, "a value is shorter than what it is sealed in")
            let other = ItemSeal.Place(segment: .user, user: "bob", key: "key")
            try require((try? seal.open(bytes, at: other)) == nil, "a value opens only where it was sealed")
            return .accepted
        },
        FuzzTarget(name: "enterprise-apps") { bytes throws(Violation) in
            guard let apps = try? EnterpriseApps.apps(bytes) else { return .refused }
            try require(apps.count <= EnterpriseApps.countLimit, "a list is bounded")
            try require(apps.allSatisfy { !$0.id.isEmpty && !$0.id.contains("/") }, "an id fits into a path")
            return .accepted
        },
        FuzzTarget(name: "scim-page") { bytes throws(Violation) in
            guard let answer = try? Directory.json(bytes, .readUsers),
                let page = try? SCIMPage(answer, asked: SCIMQuery(), .readUsers)
            else { return .refused }
            try require(page.resources.count <= SCIMQuery.countLimit, "a page is bounded")
            try require(page.resources.count <= page.total, "there are not more than there are")
            try require(page.resources.allSatisfy { $0["id"]?.string?.isEmpty == false }, "each has an id")
            return .accepted
        },
        FuzzTarget(name: "device-services") { bytes throws(Violation) in
            guard let answer = try? ServiceClient.json(bytes, .listDevices) else { return .refused }
            let devices = try? DeviceServices.devices(in: answer)
            let attributes = try? DeviceServices.attributes(in: answer)
            try require((devices ?? []).allSatisfy { $0.object != nil }, "a device is an object")
            for count in [devices?.count, attributes?.count] {
                try require(count ?? 0 <= DeviceServices.entryLimit, "a list is bounded")
            }
            return devices == nil && attributes == nil ? .refused : .accepted
        },
        FuzzTarget(name: "user-photo") { bytes throws(Violation) in
            guard let photo = Photo(text(bytes)) else { return .refused }
            if case .bytes(let content, let type) = photo {
                try require(content.count <= bytes.count, "a picture is not longer than its text")
                try require(type.contains("/") && !type.contains("\n"), "a type is a media type")
            }
            return .accepted
        },
    ]
}
