import Foundation
import Glibc

extension FileHandle {
    /// What can be read next; waits for it, and is empty at the end.
    ///
    /// `availableData` ends the process with an exception that Swift cannot catch where a signal interrupts it.
    package func nextPiece() -> Data {
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(fileDescriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            return Data(piece[..<max(count, 0)])
        }
    }
}
