import Foundation
import Glibc

/// Two ends of which no child inherits one, but the child whose stream it becomes.
///
/// With Foundation's `Pipe`, a program that another test starts at that moment may hold it open: who waits for its end
/// then waits for that program.
package struct PrivatePipe {
    package let reading: FileHandle
    package let writing: FileHandle

    package init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Unexpected("no pipe: \(String(cString: strerror(errno)))")
        }
        reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    }
}
