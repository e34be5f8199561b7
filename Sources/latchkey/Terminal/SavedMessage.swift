import Groundwork

/// A message whose content was written to a file of its own.
struct SavedMessage {
    /// The message, with the file's path in place of its content.
    let json: JSON

    /// - Throws: ``InputError/unwritable(name:reason:)``
    init(_ message: ArraySlice<UInt8>, in directory: String) throws {
        var members = (try JSON(parsing: message, limit: .max)).object ?? [:]
        let text = members.removeValue(forKey: "text")?.string
        let bytes =
            members.removeValue(forKey: "payload")?.string.flatMap { Base64.decode($0) } ?? text.map { Array($0.utf8) }
            ?? []
        let type = members["envelope"]?["contentType"]?.string ?? (text == nil ? "" : "text/plain")
        // The daemon's time, as digits.
        let time = (members["receivedAt"]?.string ?? "").filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        var (number, path) = (0, "")
        repeat {
            number += 1
            path = "\(directory)/\(time)-\(number).\(FileType.ending(for: type))"
        } while try !Output.newFile(path, bytes)
        members["file"] = .string(path)
        json = .object(members)
    }
}
