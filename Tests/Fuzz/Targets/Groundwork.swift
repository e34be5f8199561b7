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
        FuzzTarget(name: "display-text") { bytes throws(Violation) in
            let shown = DisplayText.clean(text(bytes))
            try require(shown.unicodeScalars.count <= DisplayText.limit, "text to be shown is short")
            try require(
                shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "text to be shown is one line"
            )
            try require(DisplayText.clean(shown) == shown, "what is clean stays as it is")
            let line = DisplayText.oneLine(text(bytes), limit: 100)
            try require(line.unicodeScalars.count <= 100, "a line is bounded")
            try require(!line.contains { $0.isNewline }, "a line is one line")
            return shown.isEmpty ? .refused : .accepted
        },
        FuzzTarget(name: "written-url") { bytes throws(Violation) in
            guard let received = try? ReceivedText.decode(bytes), let url = try? WrittenURL(received) else {
                return .refused
            }
            try require(
                Array(received.utf8).count <= bytes.count * 3 / 2, "text is not longer than UTF-16 makes it")
            try require(url.text.utf8.count <= received.utf8.count, "nothing is added to a URL")
            try require(received.contains(url.text), "a URL stands in the text as it is read")
            try require(url.text.trimmed == url.text, "a URL has no blanks around it")
            return url.text.contains("://") ? .accepted : .refused
        },
        FuzzTarget(name: "percent-encoding") { bytes throws(Violation) in
            var encoded: [UInt8] = []
            PercentEncoding.append(bytes, to: &encoded)
            try require(PercentEncoding.decode(encoded) == bytes, "what was encoded reads as it was")
            let lenient = PercentEncoding.decodeWherePossible(bytes)
            try require(lenient.count <= bytes.count, "nothing is made up")
            guard let decoded = PercentEncoding.decode(bytes) else { return .refused }
            try require(decoded == lenient, "both readers agree where nothing is broken")
            return .accepted
        },
    ]
}
