import Glibc

/// Damaged files of a store that were set aside beside it. They still have what was in it.
public enum SetAsideFiles {
    /// How many of earlier damage are kept when there is more.
    public static let kept = 3
    private static let mark = ".damaged-"

    /// Their paths, the newest last; a database's with its companions are one.
    public static func paths(of store: String) -> [String] {
        let names = (try? PlainFile.companions(of: store)) ?? []
        let main = names.filter { name in
            name.contains(mark) && !DatabaseFile.companions.contains { name.hasSuffix($0) }
        }
        return main.map { store + $0 }.sorted { place($0) < place($1) }
    }

    /// The date that the name ends with, and its number among those of the same date.
    private static func place(_ path: String) -> (String, Int) {
        let date = path.split(separator: ".").last ?? ""
        let number = date.split(separator: "Z-").last.flatMap { Int($0) } ?? 1
        return (String(date.prefix { $0 != "Z" }), number)
    }

    /// Erases all of them, with what is left of some.
    public static func erase(of store: String) {
        for name in (try? PlainFile.companions(of: store)) ?? [] where name.contains(mark) {
            remove(store + name, of: store)
        }
    }

    /// Erases all but the newest ``kept`` of these, if there are others by now.
    ///
    /// - Parameter earlier: ``paths(of:)`` before a store was opened, which may set further ones aside.
    public static func limit(_ earlier: [String], of store: String) {
        guard earlier.count > kept, paths(of: store).count > earlier.count else { return }
        for path in earlier.dropLast(kept) {
            for ending in [""] + DatabaseFile.companions { remove(path + ending, of: store) }
        }
    }

    /// Overwrites a file and removes it. One that has another name too, which may be in use, only loses this one.
    public static func remove(_ path: String, of store: String) {
        var found = stat()
        guard lstat(path, &found) == 0 else { return }
        if found.st_nlink == 1, (try? PlainFile.erase(path, of: store)) != nil { return }
        unlink(path)
    }
}
