/// A value that ``TypedValues`` stores once for its type; the default until it is set.
package protocol TypedValue: Sendable, Equatable {
    init()
}

/// A list as such a value.
package struct TypedList<Element: Sendable & Equatable>: TypedValue {
    package var all: [Element] = []

    package init() {}
}

/// Values by their types: what features keep where only they know its form.
package struct TypedValues: Sendable, Equatable {
    private var values: [ObjectIdentifier: any TypedValue] = [:]

    package init() {}

    package subscript<Value: TypedValue>(type: Value.Type) -> Value {
        get { values[ObjectIdentifier(type)] as? Value ?? Value() }
        // A default that is set counts as none, so that all defaults are equal to no values.
        set { values[ObjectIdentifier(type)] = newValue == Value() ? nil : newValue }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.values.count == right.values.count
            && left.values.allSatisfy { key, value in value.isEqual(to: right.values[key]) }
    }
}

extension TypedValue {
    fileprivate func isEqual(to other: (any TypedValue)?) -> Bool { other as? Self == self }
}
