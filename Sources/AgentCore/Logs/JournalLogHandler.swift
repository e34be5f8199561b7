import Logging

/// Writes log entries to the systemd journal with their metadata as fields (`systemd.journal-fields(7)`, native
/// protocol): `journalctl -t latchkey LATCHKEY_CODE=messaging.refused` finds what it names.
package struct JournalLogHandler: LogHandler {
    /// Where journald listens.
    package static let socketPath = "/run/systemd/journal/socket"
    /// Longest value of a field, in bytes; longer values are cut, because one datagram has to hold the entry.
    package static let valueLimit = 8192

    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    package var metadataProvider: Logger.MetadataProvider?
    /// The part of the agent that logs.
    private let label: String
    private let socket: UnixDatagram

    /// - Parameter level: the lowest level that is logged.
    package init(label: String, level: Logger.Level, socketPath: String = Self.socketPath) {
        self.label = label
        logLevel = level
        socket = UnixDatagram(path: socketPath)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var entry: [UInt8] = []
        Self.append("MESSAGE", "\(event.message)", to: &entry)
        Self.append("PRIORITY", String(event.level.syslogPriority), to: &entry)
        Self.append("SYSLOG_IDENTIFIER", "latchkey", to: &entry)
        Self.append("LATCHKEY_SERVICE", label, to: &entry)
        for (key, value) in event.fields(beside: metadata, metadataProvider) {
            Self.append("LATCHKEY_\(Self.fieldName(key))", "\(value)", to: &entry)
        }
        socket.send(entry)
    }

    /// A value with a line break needs the binary form: name, line feed, length as 64 bits little endian, value.
    package static func append(_ name: String, _ value: String, to entry: inout [UInt8]) {
        var bytes = value.utf8.prefix(valueLimit)
        // Not within a character, because the journal takes invalid UTF-8 for binary data.
        while bytes.endIndex != value.utf8.endIndex, bytes.endIndex.samePosition(in: value.unicodeScalars) == nil {
            bytes = bytes.dropLast()
        }
        entry += name.utf8
        if bytes.contains(UInt8(ascii: "\n")) {
            entry.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { entry += $0 }
        } else {
            entry.append(UInt8(ascii: "="))
        }
        entry += bytes
        entry.append(UInt8(ascii: "\n"))
    }

    /// Field names have capitals, digits and underscores only.
    package static func fieldName(_ key: String) -> String {
        String(key.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }.prefix(48))
    }
}

extension Logger.Level {
    /// The number of the level in journald and syslog (`sd-daemon(3)`).
    package var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

extension LogEvent {
    /// The fields of the entry: the event's own override the logger's, and those override the provider's.
    package func fields(beside metadata: Logger.Metadata, _ provider: Logger.MetadataProvider?) -> Logger.Metadata {
        (provider?.get() ?? [:]).merging(metadata) { _, own in own }.merging(self.metadata ?? [:]) { _, own in own }
    }
}
