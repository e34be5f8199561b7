import FoundationEssentials
import Glibc

extension Database {
    /// Opens a database that the program can lose: a damaged file is moved aside and a new one created.
    ///
    /// - Returns: the new path of the damaged file, for the caller to report; `nil` if all was well.
    public static func openSettingAsideDamage(
        path: String, migrations: [Migration], options: Options = Options(),
        now: Date = Date()
    ) throws(StorageError) -> (database: Database, setAside: String?) {
        do throws(StorageError) {
            return (try Database(path: path, migrations: migrations, options: options), nil)
        } catch  where error.isDamage {
            let setAside = try setAside(path, now: now)
            return (try Database(path: path, migrations: migrations, options: options), setAside)
        }
    }

    /// Moves a closed database with its log to `NAME.damaged-2026-11-21T02-03-04Z`, never over another file.
    ///
    /// - Returns: the new path.
    /// - Throws: ``StorageError/cannotSetAside(path:reason:)``
    public static func setAside(_ path: String, now: Date = Date()) throws(StorageError) -> String {
        let target = try DatabaseFile.claim("\(path).damaged-\(stamp(now))")
        // The database goes last: after an interruption, the next start still finds it damaged and moves it.
        for companion in DatabaseFile.companions + [""] {
            guard rename(path + companion, target + companion) != 0 else { continue }
            guard errno == ENOENT, !companion.isEmpty else {
                let reason = DatabaseFile.reason(errno)
                unlink(target)
                throw StorageError.cannotSetAside(path: path, reason: reason)
            }
        }
        try DatabaseFile.syncDirectory(of: target)
        return target
    }

    /// UTC without colons, which some file systems do not allow.
    static func stamp(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            let count = strftime(text.baseAddress!, text.count, "%Y-%m-%dT%H-%M-%SZ", &parts)
            return String(decoding: UnsafeRawBufferPointer(text).prefix(count), as: UTF8.self)
        }
    }
}
