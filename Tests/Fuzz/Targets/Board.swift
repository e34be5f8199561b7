@testable import Board

extension FuzzTarget {
    static let board = [
        FuzzTarget(name: "board-definition") { bytes throws(Violation) in
            guard let board = try? BoardDefinition(toml: text(bytes), path: "/etc/latchkey/boards/fuzzed.toml") else {
                return .refused
            }
            try require(board.sensors.count <= BoardDefinition.sensorLimit, "a board has a bounded number of sensors")
            try require(Set(board.sensors.map(\.name)).count == board.sensors.count, "sensors have names of their own")
            for sensor in board.sensors {
                try require(sensor.scale.isFinite && sensor.offset.isFinite, "a sensor's numbers are finite")
                try require(sensor.period >= .milliseconds(100), "no sensor is read more often than ten times a second")
                switch sensor.source {
                case .hwmon(let names, let channel, _), .iio(let names, let channel, _):
                    try require(
                        (names + [channel]).allSatisfy { !$0.contains("/") && $0 != ".." }, "no name leads elsewhere")
                case .thermal(let names), .oneWire(let names):
                    try require(names.allSatisfy { !$0.contains("/") && $0 != ".." }, "no name leads elsewhere")
                case .system: break
                }
            }
            return .accepted
        },
        FuzzTarget(name: "driver-number") { bytes throws(Violation) in
            guard let number = DriverNumber.parse(bytes) else {
                try require(
                    DriverNumber.excerpt(bytes).utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "an excerpt prints")
                return .refused
            }
            try require(number.isFinite, "a reading is a finite number")
            try require(
                DriverNumber.parse(Array("\(Int32(clamping: Int64(exactly: number.rounded()) ?? 0))\n".utf8)) != nil,
                "whole numbers are read")
            return .accepted
        },
        FuzzTarget(name: "wireless-signal") { bytes throws(Violation) in
            let found = WirelessSignal.parse(bytes)
            for (name, signal) in found {
                try require(!name.isEmpty, "an interface has a name")
                guard case .level(let level) = signal else { continue }
                try require(level < 0 && level > -256, "a level is one in dBm")
            }
            return found.isEmpty ? .refused : .accepted
        },
        FuzzTarget(name: "processor-use") { bytes throws(Violation) in
            var use = ProcessorUse()
            guard let first = use.percent(after: bytes) else { return .refused }
            try require((0...100).contains(first), "a share is one of the whole")
            try require(use.percent(after: bytes) == first, "without a tick the share is as before")
            return .accepted
        },
        FuzzTarget(name: "key-events") { bytes throws(Violation) in
            guard let events = KeyEvent.all(in: bytes) else { return .refused }
            try require(events.count * KeyEvent.byteCount == bytes.count, "no byte is left out")
            var entry = KeypadEntry()
            for event in events {
                guard case .entered(let digits) = entry.receive(event) else { continue }
                try require((1...KeypadEntry.limit).contains(digits.count), "what is entered has bounds")
                try require(digits.allSatisfy { (0x30...0x39).contains($0) }, "only digits are entered")
            }
            var scanned = TypedText()
            for event in events {
                guard case .line(let text) = scanned.receive(event) else { continue }
                try require((1...TypedText.limit).contains(text.utf8.count), "what is scanned has bounds")
                try require(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "what is scanned is printable")
            }
            return .accepted
        },
        FuzzTarget(name: "gpsd") { bytes throws(Violation) in
            var reader = GPSDReader()
            guard case .fix(let fix) = reader.receive(bytes) else { return .refused }
            try require((-90...90).contains(fix.latitude), "a fix is on Earth")
            try require((-180...180).contains(fix.longitude), "a fix is on Earth")
            return .accepted
        },
    ]
}
