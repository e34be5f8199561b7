/// What standing subscriptions want is on the disk before the broker gets its acknowledgement.
///
/// The library writes an acknowledgement before it hands over the message; so while packets are read, it is told to
/// leave what it writes in its queue.
extension ConnectionLoop {
    /// Delivers what was read.
    ///
    /// - Throws: if it cannot be kept: the connection ends, and the broker sends it again on the next.
    func deliver(_ client: MosquittoClient) throws(Stop) {
        guard client.deliver() else { throw .failed(inbox.standing?.fault ?? .notConfirmed) }
    }

    /// Delivers what was read, and lets the library write its acknowledgements.
    func releaseAcknowledgements(_ client: MosquittoClient) throws(Stop) {
        guard inbox.standing != nil else { return }
        try deliver(client)
        client.holdAcknowledgements(false)
    }
}
