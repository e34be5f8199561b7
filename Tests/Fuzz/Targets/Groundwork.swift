import Groundwork

extension FuzzTarget {
    static let groundwork = [
        FuzzTarget(name: "json") { bytes throws(Violation) in
            guard let json = try? JSON(parsing: bytes) else { return .refused }
            try require((try? JSON(parsing: json.bytes)) == json, "JSON that was written reads as the same value")
            try require((try? JSON(parsing: Array(json.prettyText.utf8))) == json, "so does JSON for people")
            return .accepted
        },
        FuzzTarget(name: "base64") { bytes throws(Violation) in
            for alphabet in [Base64.Alphabet.standard, .urlSafe] {
                let encoded = Base64.encode(bytes, alphabet: alphabet)
                try require(Base64.decode(encoded, alphabet: alphabet) == bytes, "base 64 gives back what it was given")
            }
            guard let decoded = Base64.decode(text(bytes)) else { return .refused }
            let forms = [true, false].map { Base64.encode(decoded, padded: $0) }
            try require(forms.contains(text(bytes)), "only canonical base 64 is read")
            return .accepted
        },
        FuzzTarget(name: "hex") { bytes throws(Violation) in
            try require(Hex.decode(Hex.encode(bytes)) == bytes, "hexadecimal gives back what it was given")
            guard let decoded = Hex.decode(text(bytes)) else { return .refused }
            try require(Hex.encode(decoded) == text(bytes).lowercased(), "every digit counts")
            return .accepted
        },
    ]
}
