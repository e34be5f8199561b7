/// The functions of a C library that is loaded at its first use, as listed with `CLinux/late.h`.
///
/// `@unchecked Sendable` is correct because the table is filled before the pointer is shared, and neither changed nor
/// freed afterwards.
public struct LoadedLibrary<Calls>: @unchecked Sendable {
    /// For C functions that take the table. Valid until the process ends.
    public let table: UnsafePointer<Calls>

    @inlinable public var calls: Calls { table.pointee }

    /// - Parameters:
    ///   - empty: a table to fill.
    ///   - load: fills it; returns `nil`, or the name of the missing file or function.
    public init(
        filling empty: Calls, by load: (UnsafeMutablePointer<Calls>?) -> UnsafePointer<CChar>?
    ) throws(LibraryMissing) {
        let table = UnsafeMutablePointer<Calls>.allocate(capacity: 1)
        table.initialize(to: empty)
        if let missing = load(table) {
            table.deallocate()
            throw LibraryMissing(name: String(cString: missing))
        }
        self.table = UnsafePointer(table)
    }
}

/// The error if a library could not be loaded, or lacks a function.
public struct LibraryMissing: Error, Equatable {
    /// The name of its file, such as `libcurl.so.4`, or of the function.
    public let name: String

    public init(name: String) { self.name = name }
}
