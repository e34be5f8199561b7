/// What standing subscriptions want is on the disk before the broker gets its acknowledgement.
///
/// The library writes an acknowledgement before it hands over the message; so while packets are read, it is told to
/// leave what it writes in its queue.
extension ConnectionLoop {
    /// Delivers what was read.
    ///
    /// - Throws: if it cannot be kept: the connection ends, as the library would acknowledge it. On the next one it is
    ///   left to the broker (``ConnectionOrder/leavesInboxMessages``).
    func deliver(_ client: MosquittoClient) throws(Stop) {
        guard client.deliver() else {
            throw .failed(inbox.standing?.obstacle ?? .notConfirmed)
        }
    }

    /// Delivers what was read, and lets the library write its acknowledgements.
    func releaseAcknowledgements(_ client: MosquittoClient) throws(Stop) {
        guard inbox.standing != nil else { return }
        try deliver(client)
        client.holdAcknowledgements(false)
    }
}
