/// The reference clients' numbers for an error (MAG 8.6); `nil` if a client has none.
public struct ErrorNumbers: Sendable, Equatable {
    public let android: Int?
    public let ios: Int?

    public init(android: Int? = nil, ios: Int? = nil) {
        self.android = android
        self.ios = ios
    }
}
