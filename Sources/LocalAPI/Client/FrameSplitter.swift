/// Assembles the pieces of a stream into frames (``StreamForm/frames``).
struct FrameSplitter {
    /// Begins with a frame that is not complete.
    private var rest: [UInt8] = []

    /// - Returns: the frames that are complete now, whole. They share the memory of the piece.
    /// - Throws: ``LocalAPIError/noAnswer(reason:)`` when a frame is longer than an event may be.
    mutating func add(_ piece: [UInt8]) throws(LocalAPIError) -> [ArraySlice<UInt8>] {
        if rest.isEmpty { rest = piece } else { rest += piece }
        var frames: [ArraySlice<UInt8>] = []
        var start = 0
        while rest.count - start >= StreamForm.frameHead {
            let content = start + StreamForm.frameHead
            var length = 0
            for place in start + 1..<content { length = length << 8 | Int(rest[place]) }
            guard length <= LineSplitter.limit else { throw .noAnswer(reason: "a frame of the stream is too long") }
            guard rest.count - content >= length else { break }
            frames.append(rest[start..<content + length])
            start = content + length
        }
        if start > 0 { rest = Array(rest[start...]) }
        return frames
    }
}
