/// Content types of files, by the endings of their names.
enum FileType {
    private static let types = [
        "txt": "text/plain", "json": "application/json", "xml": "application/xml", "csv": "text/csv",
        "html": "text/html", "pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "gif": "image/gif", "webp": "image/webp", "svg": "image/svg+xml",
    ]
    private static let unknown = "application/octet-stream"

    static func contentType(ofFile name: String) -> String {
        let last = name.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: ".") else { return unknown }
        return types[last[last.index(after: dot)...].lowercased()] ?? unknown
    }

    /// The ending for a file of this type: never a text of the sender's own.
    static func ending(for contentType: String) -> String {
        let bare = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
        // Of jpg and jpeg, the first.
        return types.filter { $0.value == bare }.keys.min(by: { $0.count < $1.count }) ?? "bin"
    }
}
