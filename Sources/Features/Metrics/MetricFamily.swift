import AgentCore
import Groundwork

/// A figure of the agent, with a value for each thing that has it.
///
/// Names follow OpenMetrics 1.0: base units, the unit at the end of the name, and without the `_total` and `_info` that
/// its samples have.
struct MetricFamily: Sendable {
    enum Kind: String, Sendable {
        case gauge, counter, info
        /// Which one of several states something is in.
        case stateSet = "stateset"
    }

    struct Sample: Sendable {
        let labels: [(name: String, value: String)]
        let value: Double

        init(_ value: Double, _ labels: [(name: String, value: String)] = []) {
            (self.value, self.labels) = (value, labels)
        }
    }

    let name: String
    let kind: Kind
    /// `nil` for a plain number.
    let unit: String?
    let help: String
    let samples: [Sample]
}

/// The figures of the agent at one time, in the order in which they are shown.
struct MetricsPage: Sendable {
    package private(set) var families: [MetricFamily] = []

    typealias Sample = MetricFamily.Sample
    /// What a sample is about, such as the sensor.
    typealias Labels = [(name: String, value: String)]

    private mutating func add(
        _ kind: MetricFamily.Kind, _ name: String, _ unit: String?, _ help: String, _ samples: [Sample]
    ) {
        // Without a sample there is nothing of it at present.
        guard !samples.isEmpty else { return }
        families.append(MetricFamily(name: name, kind: kind, unit: unit, help: help, samples: samples))
    }

    /// - Parameter unit: the end of the name, if it is a unit.
    mutating func gauge(_ name: String, unit: String? = nil, _ help: String, _ samples: [Sample]) {
        add(.gauge, name, unit, help, samples)
    }

    mutating func gauge(_ name: String, unit: String? = nil, _ help: String, _ value: Double?) {
        add(.gauge, name, unit, help, value.map { [Sample($0)] } ?? [])
    }

    /// - Parameter name: without `_total`.
    mutating func counter(_ name: String, unit: String? = nil, _ help: String, _ samples: [Sample]) {
        add(.counter, name, unit, help, samples)
    }

    mutating func counter(_ name: String, unit: String? = nil, _ help: String, _ value: Double?) {
        add(.counter, name, unit, help, value.map { [Sample($0)] } ?? [])
    }

    /// - Parameter things: each with its labels and its state.
    mutating func states(_ name: String, of states: [String], _ help: String, _ things: [(Labels, state: String)]) {
        let samples = things.flatMap { labels, state in
            states.map { Sample($0 == state ? 1 : 0, labels + [(name, $0)]) }
        }
        add(.stateSet, name, nil, help, samples)
    }

    mutating func info(_ name: String, _ help: String, _ labels: Labels) {
        add(.info, name, nil, help, [Sample(1, labels)])
    }
}
