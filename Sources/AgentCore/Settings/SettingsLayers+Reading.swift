import Glibc
import Groundwork
import Settings

extension SettingsLayers {
    /// The most drop-ins.
    package static let dropInLimit = 64

    /// The directory of drop-ins: `latchkey.d` beside `latchkey.toml`.
    package static func dropInDirectory(beside path: String) -> String {
        (path.hasSuffix(".toml") ? String(path.dropLast(5)) : path) + ".d"
    }

    /// Reads a main file and the drop-ins beside it.
    ///
    /// - Parameters:
    ///   - path: `nil` for the usual place, where no file need be.
    ///   - onlyOfRoot: refuses files, and a directory of drop-ins, that belong to others than root and this user, or
    ///     that others may write.
    /// - Throws: ``ConfigurationError``
    package static func read(_ path: String?, onlyOfRoot: Bool = false) throws(ConfigurationError) -> SettingsLayers {
        let main = path ?? AgentConfiguration.defaultPath
        let content = try content(of: main, onlyOfRoot ? .regular : .anything, onlyOfRoot)
        guard content != nil || path == nil else {
            throw .unreadable(path: main, reason: Errno(ENOENT).description)
        }
        return try read(main, content ?? [], onlyOfRoot: onlyOfRoot)
    }

    /// - Parameter content: of the main file.
    /// - Throws: ``ConfigurationError``
    package static func read(
        _ path: String, _ content: [UInt8], onlyOfRoot: Bool = false
    ) throws(ConfigurationError) -> SettingsLayers {
        var faults: [SettingsFault] = []
        let main = try layer(path, content, isMain: true, &faults)
        var dropIns: [Layer] = []
        for file in try files(in: dropInDirectory(beside: path), onlyOfRoot) {
            // A file that is gone since says nothing.
            guard let content = try Self.content(of: file, .regular, onlyOfRoot) else { continue }
            dropIns.append(try layer(file, content, isMain: false, &faults))
        }
        guard faults.isEmpty else { throw .faults(path: path, faults) }
        return SettingsLayers(main: main, dropIns: dropIns)
    }

    private static func layer(
        _ path: String, _ content: [UInt8], isMain: Bool, _ faults: inout [SettingsFault]
    ) throws(ConfigurationError) -> Layer {
        let text: String
        do throws(ReceivedText.Fault) {
            text = try ReceivedText.decode(content)
        } catch {
            throw .unreadable(path: path, reason: error.reason)
        }
        do throws(SettingsFault) {
            return Layer(path: path, members: try SettingsDocument.parse(text))
        } catch {
            faults.append(
                SettingsFault(file: isMain ? nil : path, keyPath: error.keyPath, fault: error.fault, fix: error.fix))
            return Layer(path: path, members: [:])
        }
    }

    // MARK: Files

    /// - Returns: `nil` if there is no such file.
    private static func content(
        of path: String, _ kind: BoundedFile.Kind, _ onlyOfRoot: Bool
    ) throws(ConfigurationError) -> [UInt8]? {
        let (bytes, isTrusted): ([UInt8], Bool)
        do throws(FileFault) {
            let file = try OpenedFile(path, kind)
            let status = try file.status()
            guard kind == .anything || status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
            isTrusted = isOfRoot(status)
            bytes = try BoundedFile.read(file.descriptor, limit: SettingsDocument.limit)
        } catch {
            guard error != .system(Errno(ENOENT)) else { return nil }
            throw .unreadable(path: path, reason: error.description)
        }
        guard isTrusted || !onlyOfRoot else { throw .writableByOthers(path: path) }
        return bytes
    }

    private static func isOfRoot(_ status: stat) -> Bool {
        [0, geteuid()].contains(status.st_uid) && status.st_mode & 0o022 == 0
    }

    /// Regular files that end in `.toml`; those that are hidden or what editors leave behind are not.
    private static func files(in directory: String, _ onlyOfRoot: Bool) throws(ConfigurationError) -> [String] {
        guard let stream = opendir(directory) else {
            let error = Errno(errno)
            guard error != Errno(ENOENT) else { return [] }
            throw .unreadable(path: directory, reason: error.description)
        }
        defer { closedir(stream) }
        var status = stat()
        guard !onlyOfRoot || (fstat(dirfd(stream), &status) == 0 && isOfRoot(status)) else {
            throw .writableByOthers(path: directory)
        }
        var files: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasSuffix(".toml"), name.first != "." else { continue }
            let path = "\(directory)/\(name)"
            guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { continue }
            guard files.count < dropInLimit else {
                throw .unreadable(path: directory, reason: "it has more than \(dropInLimit) files")
            }
            files.append(path)
        }
        return files
    }
}
