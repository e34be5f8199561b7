/// The numbers that the reference clients give an error (MAG 8.6); `nil` where a client does not know it.
public struct ErrorNumbers: Sendable, Equatable {
    public let android: Int?
    public let ios: Int?

    public init(android: Int? = nil, ios: Int? = nil) {
        self.android = android
        self.ios = ios
    }
}
