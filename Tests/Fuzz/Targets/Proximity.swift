import Groundwork

@testable import Proximity

extension FuzzTarget {
    static let proximity = [
        FuzzTarget(name: "proximity-request") { bytes throws(Violation) in
            guard let request = try? ProximityRequest(parsing: bytes) else { return .refused }
            try require(request.providerURL.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a URL is visible ASCII")
            try require(request.deviceName.map { DisplayText.clean($0) == $0 } ?? true, "a name is fit to be shown")
            try require(request.document.allSatisfy { (0x20..<0x7F).contains($0) }, "what is written is ASCII")
            let again = try? ProximityRequest(parsing: request.document)
            try require(again == request, "what is written reads as the same request")
            let size = 1 + (bytes.first.map(Int.init) ?? 0)
            let pieces = request.pieces(of: size).dropLast()
            try require(!pieces.contains(ProximityRequest.endMark), "no piece ends the message early")
            return .accepted
        },
        // The first byte of the input, and of each piece after that, says how long the piece is.
        FuzzTarget(name: "proximity-pieces") { bytes throws(Violation) in
            var collector = RequestCollector()
            var rest = bytes[...]
            var verdict = Verdict.refused
            while let length = rest.popFirst() {
                let piece = Array(rest.prefix(Int(length)))
                rest = rest.dropFirst(piece.count)
                switch collector.receive(piece, now: .zero) {
                case .request: verdict = .accepted
                case .refused: try require(collector.deadline == nil, "a collector is empty after a request")
                case .incomplete: try require(piece != ProximityRequest.endMark, "an end mark ends a request")
                }
            }
            return verdict
        },
    ]
}
