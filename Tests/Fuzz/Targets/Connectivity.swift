@testable import Connectivity

extension FuzzTarget {
    static let network = [
        FuzzTarget(name: "netlink") { bytes throws(Violation) in
            var answer = NetlinkAnswer()
            let isRead = answer.read(bytes, sequence: 1)
            let snapshot = answer.snapshot
            try require(
                snapshot.links.count * 16 + snapshot.addresses.count * 8 + snapshot.routes.count * 12 <= bytes.count,
                "nothing is found that was not sent")
            try require(
                snapshot.links.allSatisfy { (1...15).contains($0.name.utf8.count) && !$0.name.contains("/") },
                "the name of a link is a file name")
            try require(
                snapshot.addresses.allSatisfy { [4, 16].contains($0.bytes.count) }, "an address has 4 or 16 bytes")
            if let way = snapshot.wayOut { try require(way.isRunning, "a way out has a carrier") }
            return isRead ? .accepted : .refused
        }
    ]
}
