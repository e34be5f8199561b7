import Glibc
import Groundwork
import Settings

/// The folders that hold board definitions; the first definition found by a name is used.
public struct BoardCatalog: Sendable {
    /// The administrator's folder, then the package's.
    public static let standardFolders = ["/etc/latchkey/boards", "/usr/share/latchkey/boards"]
    /// The definition used for a board that no definition matches.
    public static let fallback = "generic-linux"
    /// The definition of no board, whose sensors all others have too.
    public static let health = "health"

    public let folders: [String]

    public init(folders: [String] = Self.standardFolders) {
        self.folders = folders
    }

    /// Names of all definitions of boards, sorted.
    public var names: [String] {
        let files = folders.flatMap { Machine().names(in: $0) }.filter { $0.hasSuffix(".toml") }
        return Set(files.map { String($0.dropLast(5)) }).subtracting([Self.health]).sorted()
    }

    /// - Throws: ``BoardError`` if there is none of this name, or it cannot be read or is faulty.
    public func definition(named name: String) throws(BoardError) -> BoardDefinition {
        // A name is not a path: it must not lead out of the folders.
        if !name.utf8.contains(UInt8(ascii: "/")), !name.hasPrefix(".") {
            for folder in folders {
                let path = "\(folder)/\(name).toml"
                guard access(path, F_OK) == 0 || errno != ENOENT else { continue }
                return try BoardDefinition(contentsOf: path)
            }
        }
        throw BoardError.definitionAbsent(name: name, searched: folders, known: names)
    }

    /// The sensors that every board has beside those of its definition; none where no folder has a definition of them.
    ///
    /// - Throws: ``BoardError`` if it cannot be read or is faulty.
    public func healthSensors() throws(BoardError) -> [SensorDefinition] {
        do throws(BoardError) {
            return try definition(named: Self.health).sensors
        } catch .definitionAbsent {
            return []
        }
    }

    /// Result of ``detect(_:)``.
    public struct Detection: Sendable {
        public let definition: BoardDefinition
        /// The device tree's model; `nil` if there is none.
        public let model: String?
        /// Definitions that could not be read, so that they were not compared with this board.
        public let skipped: [BoardError]
    }

    /// The definition whose model is the longest prefix of the machine's; ``fallback`` if there is none.
    ///
    /// - Throws: ``BoardError`` when the fallback is needed and cannot be loaded.
    public func detect(_ machine: Machine = Machine()) throws(BoardError) -> Detection {
        let model = machine.model
        var skipped: [BoardError] = []
        var best: (length: Int, definition: BoardDefinition)?
        for name in model == nil ? [] : names {
            do throws(BoardError) {
                let definition = try definition(named: name)
                let length = definition.models.filter { model?.hasPrefix($0) == true }.map(\.count).max() ?? 0
                if length > best?.length ?? 0 { best = (length, definition) }
            } catch {
                skipped.append(error)
            }
        }
        let definition = if let best { best.definition } else { try definition(named: Self.fallback) }
        return Detection(definition: definition, model: model, skipped: skipped)
    }
}

extension BoardDefinition {
    /// Reads a definition from its file.
    public init(contentsOf path: String) throws(BoardError) {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, limit: SettingsDocument.limit)
        } catch {
            throw BoardError.definitionUnreadable(path: path, reason: error.description)
        }
        let text: String
        do throws(ReceivedText.Fault) {
            text = try ReceivedText.decode(bytes)
        } catch {
            throw BoardError.definitionUnreadable(path: path, reason: error.reason)
        }
        try self.init(toml: text, path: path)
    }

    /// - Parameter folders: searched in this order.
    public static func load(
        named name: String, searching folders: [String] = BoardCatalog.standardFolders
    ) throws(BoardError) -> BoardDefinition {
        try BoardCatalog(folders: folders).definition(named: name)
    }
}
