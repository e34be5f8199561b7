import Groundwork
import Testing

@testable import MPin

@Suite("A vector file of M-Pin")
struct VectorToleranceTests {
    private static func entry(_ json: JSON) -> VectorFiles.Entry { .init(file: "made", name: "here", json: json) }

    private static func check(_ json: JSON) throws { try VectorCase(entry(json))?.check() }

    private static func member(_ json: JSON, _ name: String) -> [String: JSON] { json[name]?.object ?? [:] }

    /// The vector with a member of one of its groups changed, or without it.
    private static func changed(_ json: JSON, _ group: String, _ name: String, to value: JSON?) -> JSON {
        var (members, all) = (member(json, group), json.object ?? [:])
        members[name] = value
        all[group] = .object(members)
        return .object(all)
    }

    private static let groups = ["input", "expect", "server"]
    /// One with a permit and one without.
    private static let samples = [true, false].compactMap { isDated in
        VectorFiles.authentications.first { (($0.number("input", "date") ?? 0) != 0) == isDated }
    }

    @Test("a vector file may lack any member, and any group", arguments: samples)
    func lacking(sample: VectorFiles.Entry) throws {
        try Self.check([:])
        for group in Self.groups {
            var all = sample.json.object ?? [:]
            all[group] = nil
            try Self.check(.object(all))
            for name in Self.member(sample.json, group).keys {
                try Self.check(Self.changed(sample.json, group, name, to: nil))
            }
        }
    }

    @Test("a vector file may have unknown members, capitals, and numbers without their zeros", arguments: samples)
    func unknown(sample: VectorFiles.Entry) throws {
        for group in Self.groups { try Self.check(Self.changed(sample.json, group, "unknown", to: [1, nil, "00"])) }
        for group in Self.groups {
            for (name, value) in Self.member(sample.json, group) where value.string.flatMap(Hex.decode) != nil {
                guard !["pin", "wrong_pin"].contains(name), let text = value.string else { continue }
                try Self.check(Self.changed(sample.json, group, name, to: .string(text.uppercased())))
            }
        }
        // A y of one byte, and of an odd number of digits: V is another then, which is not compared.
        for y in ["01", "1", "", "fff"] {
            var json = Self.changed(sample.json, "input", "y", to: .string(y))
            json = Self.changed(json, "expect", "V", to: nil)
            try Self.check(Self.changed(json, "expect", "wrong_pin_V", to: nil))
        }
        for pin in ["pässwort", ""] {
            try Self.check(Self.changed(sample.json, "input", "wrong_pin", to: .string(pin)))
        }
    }

    @Test("a vector file is compared in each member that can be computed", arguments: samples)
    func compared(sample: VectorFiles.Entry) throws {
        // Not by this program, and what is of no meaning without a permit.
        let others = ["server_secret", "server_secret_share1", "server_secret_share2"]
        for group in ["expect", "server"] {
            for (name, value) in Self.member(sample.json, group) where !others.contains(name) && value != "" {
                let wrong: JSON =
                    if let number = value.integer { .integer(number + 1) } else {
                        .string(value.string.map { ($0.hasPrefix("0") ? "1" : "0") + $0.dropFirst() } ?? "")
                    }
                withKnownIssue("\(name)") { try Self.check(Self.changed(sample.json, group, name, to: wrong)) }
            }
        }
    }

    @Test("a vector file of another curve keeps PINs and numbers, and says why no point is compared")
    func otherCurve() throws {
        func file(_ members: JSON) -> VectorFiles.File { .init(path: "made", json: members) }
        #expect(file(["curve": "BN254"]).otherness == "its curve is BN254, not BN254CX")
        #expect(file(["hash": "SHA-512"]).otherness == "its hash is SHA-512, not SHA-256")
        for own in [[:], ["curve": "bn254cx", "hash": "sha256"], ["curve": nil]] as [JSON] {
            #expect(file(own).otherness == nil)
        }
        let other = file(["curve": "BN254", "pin_mapping": [["pin": "1"]]])
        #expect(VectorFiles.entries("pin_mapping", of: other).count == 1)
        #expect(VectorFiles.entries("vectors", of: VectorFiles.File(path: "broken", json: nil)).isEmpty)
    }
}
