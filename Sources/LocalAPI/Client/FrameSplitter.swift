/// Assembles the pieces of a stream into frames (``StreamForm/frames``).
struct FrameSplitter {
    private var rest: [UInt8] = []

    /// - Returns: the frames that are complete now: the byte for the kind, and the content.
    /// - Throws: ``LocalAPIError/noAnswer(reason:)`` when a frame is longer than an event may be.
    mutating func add(_ piece: [UInt8]) throws(LocalAPIError) -> [[UInt8]] {
        rest += piece
        var frames: [[UInt8]] = []
        var start = 0
        while rest.count - start >= StreamForm.frameHead {
            let content = start + StreamForm.frameHead
            let length = rest[start + 1..<content].reduce(0) { $0 << 8 | Int($1) }
            guard length <= LineSplitter.limit else { throw .noAnswer(reason: "a frame of the stream is too long") }
            guard rest.count - content >= length else { break }
            var frame: [UInt8] = []
            frame.reserveCapacity(1 + length)
            frame.append(rest[start])
            frame += rest[content..<content + length]
            frames.append(frame)
            start = content + length
        }
        rest.removeFirst(start)
        return frames
    }
}
