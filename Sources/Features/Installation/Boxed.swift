import AgentCore

/// A value that lies elsewhere: a type that has large values copies one reference for each, and so does the code that
/// the compiler makes for its copies.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    private final class Storage: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    package var wrappedValue: Value {
        get { storage.value }
        set { storage = Storage(newValue) }
    }
}
