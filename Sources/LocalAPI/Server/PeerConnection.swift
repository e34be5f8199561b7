import Glibc

/// One connection of a local program, from accept(2) to its end: its peer, and its place in the user's quota.
final class PeerConnection: Sendable {
    let descriptor: Int32
    let peer: Peer
    /// What its requests are answered by.
    let service: ServerContext
    private let place: UserShares.Place

    /// - Returns: `nil` if the connection was refused and shut down.
    init?(_ descriptor: Int32, in service: ServerContext) {
        // Over TCP the kernel does not say who it is: each request shows whose rights it has.
        let isKnown = !service.isOnTCP
        guard let peer = isKnown ? Peer(descriptor: descriptor, units: service.units()) : .unknown else {
            shutdown(descriptor, Int32(SHUT_RDWR))
            return nil
        }
        let uid = isKnown ? peer.uid : LoopbackUser.find(descriptor) ?? peer.uid
        do throws(Shortage) {
            place = try service.connections.take(uid, isOwner: service.policy.isOwner(uid))
        } catch {
            RawAnswer(.tooManyConnections(uid: uid, error)).write(to: descriptor)
            shutdown(descriptor, Int32(SHUT_RDWR))
            return nil
        }
        self.descriptor = descriptor
        self.peer = peer
        self.service = service
        service.deadlines.await(descriptor, isNew: true)
    }
}
