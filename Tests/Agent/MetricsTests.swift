import Foundation
import Glibc
import LocalAPI
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMetrics
@testable import Board
@testable import Messaging

@Suite("Figures")
struct MetricsTests {
    @Test("OpenMetrics has a type, a unit and a help for each figure, escaped labels, and an end")
    func openMetrics() {
        var page = MetricsPage()
        page.gauge("a_bytes", unit: "bytes", "What \"a\" is", [.init(1.5, [("x", "q\"\\\nz"), ("y", "")])])
        page.counter("b", "Bs", 3)
        page.states("c", of: ["on", "off"], "A state", [([("name", "n")], "off")])
        page.info("d", "A fact", [("version", "1")])
        page.gauge("absent", "Not there", nil as Double?)
        #expect(
            MetricsText(isOpenMetrics: true).write(page) == #"""
                # TYPE a_bytes gauge
                # UNIT a_bytes bytes
                # HELP a_bytes What \"a\" is
                a_bytes{x="q\"\\\nz",y=""} 1.5
                # TYPE b counter
                # HELP b Bs
                b_total 3
                # TYPE c stateset
                # HELP c A state
                c{name="n",c="on"} 0
                c{name="n",c="off"} 1
                # TYPE d info
                # HELP d A fact
                d_info{version="1"} 1
                # EOF

                """#)
    }

    @Test("a combining mark after a quotation mark in a label does not keep it from being escaped")
    func joined() {
        var page = MetricsPage()
        page.info("d", "A fact", [("name", "a\"\u{301}b\r\nc")])
        let text = MetricsText(isOpenMetrics: true).write(page)
        #expect(text.unicodeScalars.contains("\\") && text.contains("a\\\"\u{301}b\r\\nc"))
    }

    @Test("the older text format of figures has the names of the samples, and only types that it knows")
    func prometheus() {
        var page = MetricsPage()
        page.counter("b_bytes", unit: "bytes", "Bs", 1e21)
        page.states("c", of: ["on"], "A state", [([], "on")])
        page.info("d", "A fact", [("version", "1")])
        page.gauge("e", "Numbers", [.init(.infinity), .init(-.infinity), .init(.nan), .init(-0.25)])
        #expect(
            MetricsText(isOpenMetrics: false).write(page) == """
                # HELP b_bytes_total Bs
                # TYPE b_bytes_total counter
                b_bytes_total 1e+21
                # HELP c A state
                # TYPE c gauge
                c{c="on"} 1
                # HELP d_info A fact
                # TYPE d_info gauge
                d_info{version="1"} 1
                # HELP e Numbers
                # TYPE e gauge
                e +Inf
                e -Inf
                e NaN
                e -0.25

                """)
    }

    @Test(
        "a client gets figures in the form that it prefers, and OpenMetrics if it does not say",
        arguments: [
            ([], MetricsForm.openMetrics), (["*/*"], .openMetrics), (["text/html, image/png"], .openMetrics),
            (["text/plain"], .prometheus), (["text/plain;version=0.0.4"], .prometheus),
            (["application/json"], .json), (["Application/JSON; q=0.9", "text/plain; q=0.8"], .json),
            // Of Prometheus 2.42 and 3.
            (
                [
                    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
                ], .openMetrics
            ),
            (
                [
                    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
                        + "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;q=0.3,"
                        + "text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
                ], .openMetrics
            ),
            (["application/openmetrics-text;version=2.0.0,text/plain;version=0.0.4;q=0.1"], .prometheus),
            (["application/openmetrics-text;q=0,text/plain;q=0.001"], .prometheus),
            (["text/plain;q=nan"], .prometheus), (["text/plain;q=9"], .prometheus),
        ])
    func form(accepted: [String], form: MetricsForm) {
        #expect(MetricsForm.preferred(accepted: accepted) == form)
    }

    private static let time = Date(timeIntervalSince1970: 1_800_000_000)

    @Test("figures of sensors are in base units of OpenMetrics, and failed sensors have no value")
    func sensors() {
        let units = SenMLUnit.allCases.map { SensorUnit($0).name }
        #expect(Set(units) == Set(SensorUnit.all.map(\.name)))
        func counts(_ name: String, _ unit: SenMLUnit, _ value: Double?) -> SensorPoller.Counts {
            let reading = Reading(
                name: name, value: value, unit: unit, quality: value == nil ? .bad : .good, time: Self.time)
            var counts = SensorPoller.Counts(sensor: name, unit: unit)
            (counts.taken, counts.failed, counts.latest) = (4, 1, reading)
            return counts
        }
        var page = MetricsPage()
        page.add([
            counts("a", .hectopascal, 1013.25), counts("b", .relativeHumidity, 40), counts("c", .celsius, nil),
            SensorPoller.Counts(sensor: "d", unit: .volt),
        ])
        let lines = MetricsText(isOpenMetrics: true).write(page).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            lines == [
                #"latchkey_sensor_ratio{sensor="b"} 0.4"#, #"latchkey_sensor_pascals{sensor="a"} 101325"#,
                #"latchkey_sensor_up{sensor="a"} 1"#, #"latchkey_sensor_up{sensor="b"} 1"#,
                #"latchkey_sensor_up{sensor="c"} 0"#,
                #"latchkey_sensor_last_reading_timestamp_seconds{sensor="a"} 1800000000"#,
                #"latchkey_sensor_last_reading_timestamp_seconds{sensor="b"} 1800000000"#,
                #"latchkey_sensor_last_reading_timestamp_seconds{sensor="c"} 1800000000"#,
                #"latchkey_sensor_readings_total{sensor="a"} 4"#, #"latchkey_sensor_readings_total{sensor="b"} 4"#,
                #"latchkey_sensor_readings_total{sensor="c"} 4"#, #"latchkey_sensor_readings_total{sensor="d"} 0"#,
                #"latchkey_sensor_failures_total{sensor="a"} 1"#, #"latchkey_sensor_failures_total{sensor="b"} 1"#,
                #"latchkey_sensor_failures_total{sensor="c"} 1"#, #"latchkey_sensor_failures_total{sensor="d"} 0"#,
            ])
    }

    @Test("figures of the outbox have its drops by reason, those of an inbox its depth")
    func messages() {
        var page = MetricsPage()
        var outbox = OutboxStatus(
            depth: 2, bytes: 300, oldest: Self.time.addingTimeInterval(-90), accepted: 12, delivered: 7,
            dropped: .init(full: 1, expired: 2, unsendable: 0, formerIdentity: 0))
        outbox.unwritten = 1
        page.add(outbox, limit: 1000, at: Self.time)
        page.add([InboxStatus(name: "orders", unread: 3, bytes: 99, dropped: 4)], at: Self.time)
        let text = MetricsText(isOpenMetrics: true).write(page)
        for line in [
            "latchkey_outbox_messages 2", "latchkey_outbox_bytes 300", "latchkey_outbox_limit_bytes 1000",
            "latchkey_outbox_unwritten_messages 1", "latchkey_outbox_oldest_age_seconds 90",
            "latchkey_outbox_accepted_messages_total 12", "latchkey_outbox_delivered_messages_total 7",
            #"latchkey_outbox_dropped_messages_total{reason="full"} 1"#,
            #"latchkey_outbox_dropped_messages_total{reason="expired"} 2"#,
            #"latchkey_inbox_messages{inbox="orders"} 3"#, #"latchkey_inbox_bytes{inbox="orders"} 99"#,
            #"latchkey_inbox_dropped_messages_total{inbox="orders"} 4"#,
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
    }

    @Test("figures of the process have what the kernel says of it")
    func process() {
        var read = ProcessFigures()
        read.take(status: "Name:\tlatchkey\nVmSize:\t  2048 kB\nVmRSS:\t    20 kB\nRssAnon:\t 4 kB\nThreads:\t7\nx\n")
        #expect(
            (read.virtualBytes, read.residentBytes, read.anonymousBytes, read.threads) == (2_097_152, 20_480, 4096, 7))
        let before = ProcessFigures.read()
        let descriptors = (0..<5).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        defer { for descriptor in descriptors { close(descriptor) } }
        let now = ProcessFigures.read()
        let (files, most, resident) = (now.openFiles ?? 0, now.mostOpenFiles ?? 0, now.residentBytes ?? 0)
        #expect(files > 5 && most > 5 && resident > 1_048_576)
        #expect(now.cpuSeconds ?? -1 >= before.cpuSeconds ?? 0)
        #expect(now.writtenBytes != nil && now.threads ?? 0 >= 1)
    }
}
