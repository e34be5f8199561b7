import AgentCore
import Groundwork
import LocalAPI

/// How the figures are written.
enum MetricsForm: CaseIterable {
    /// OpenMetrics 1.0.
    case openMetrics
    /// The text format of Prometheus before it, version 0.0.4.
    case prometheus
    case json

    var mediaType: String {
        switch self {
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .json: "application/json"
        }
    }

    static let texts = [MetricsForm.openMetrics, .prometheus].map(\.mediaType)

    private static let ranges: [(form: MetricsForm, type: String)] = [
        (.openMetrics, "application/openmetrics-text"), (.prometheus, "text/plain"), (.json, "application/json"),
    ]

    /// The form that a client prefers (RFC 9110 section 12.5.1), by the weights of the types that it names; a version
    /// that is not ours counts as not named. OpenMetrics if it names none of ours, as scrapers take what comes.
    ///
    /// - Parameter accepted: the values of `Accept`.
    static func preferred(accepted: [String]) -> MetricsForm {
        var (best, bestWeight) = (MetricsForm.openMetrics, 0)
        for range in accepted.joined(separator: ",").lowercased().split(separator: ",") {
            let parts = range.split(separator: ";").map { String($0).trimmed }
            guard let named = ranges.first(where: { $0.type == parts.first })?.form else { continue }
            let parameters = parts.dropFirst()
            let version = parameters.first { $0.hasPrefix("version=") }?.dropFirst("version=".count)
            guard version.map({ named.mediaType.contains("version=\($0);") }) ?? true else { continue }
            let weight = weight(parameters.first { $0.hasPrefix("q=") }?.dropFirst(2))
            if weight > bestWeight { (best, bestWeight) = (named, weight) }
        }
        return best
    }

    /// In thousandths; 1 unless it is said, or cannot be read.
    private static func weight(_ text: Substring?) -> Int {
        guard let value = text.flatMap({ Double($0) }), (0...1).contains(value) else { return 1000 }
        return Int(value * 1000)
    }

    func response(_ page: MetricsPage) -> LocalResponse {
        switch self {
        case .openMetrics: .text(MetricsText(isOpenMetrics: true).write(page), type: mediaType)
        case .prometheus: .text(MetricsText(isOpenMetrics: false).write(page), type: mediaType)
        case .json: .json(page.json)
        }
    }
}

extension MetricsPage {
    var json: JSON {
        [
            "metrics": .array(
                families.map { family in
                    var members: [String: JSON] = [
                        "name": .string(family.name), "type": .string(family.kind.rawValue),
                        "help": .string(family.help),
                        "samples": .array(
                            family.samples.map { sample in
                                [
                                    "labels": .object(
                                        Dictionary(
                                            sample.labels.map { ($0.name, .string($0.value)) }
                                        ) { first, _ in first }),
                                    "value": .number(sample.value),
                                ]
                            }),
                    ]
                    members["unit"] = family.unit.map(JSON.string)
                    return .object(members)
                })
        ]
    }

    static var schema: Schema {
        let sample = Schema.object(
            [
                "labels": .map(of: .string("value of the label"), "by their names"),
                "value": .number("in the unit of the figure"),
            ], required: ["labels", "value"])
        let family = Schema.object(
            [
                "name": .string("without the _total and _info of its samples"),
                "type": .string("of OpenMetrics", choices: ["gauge", "counter", "info", "stateset"]),
                "unit": .string("where it has one"), "help": .string("what it is"),
                "samples": .array(of: sample, "one for each thing that has it"),
            ], required: ["name", "type", "help", "samples"])
        return .object(["metrics": .array(of: family, "in a fixed order")], required: ["metrics"])
    }
}
