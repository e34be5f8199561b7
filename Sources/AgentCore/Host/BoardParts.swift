import Board

/// The parts of the board that the agent uses, as its definition names them.
package struct BoardParts: Sendable {
    package let definition: BoardDefinition
    /// The device tree's model, if there is one.
    package let model: String?
    /// That of the hardware, if it tells one.
    package let serialNumber: String?
    package let machine: Machine
    package let poller: SensorPoller
    /// What goes over the network in a month.
    package let traffic: TrafficMeter
    /// What programs hand in.
    package let handed = HandedReadings()
    package let button: Button?
    package let led: StatusLED?
    /// Why the definition that the settings name could not be used, or why others could not be examined.
    ///
    /// A board whose definition is missing or faulty runs without parts: it may exist for messages alone, and is easier
    /// to fix remotely than a silent board.
    package let faults: [BoardError]
    package let isWithoutDefinition: Bool

    /// - Parameter state: the directory that keeps the count of bytes; `nil` to keep it in memory.
    package init(
        _ settings: BoardSettings, time: BestKnownTime, machine root: Machine = Machine(), state: String? = nil
    ) {
        let traffic = TrafficMeter(path: state.map { "\($0)/traffic.json" }, machine: root, time: time)
        let machine = Machine(root: root.root) { traffic.measure() }
        (self.machine, self.traffic) = (machine, traffic)
        do throws(BoardError) {
            (definition, faults) = try settings.read(on: machine)
            isWithoutDefinition = false
        } catch {
            definition = BoardDefinition(name: "none", title: "board without a definition")
            faults = [error]
            isWithoutDefinition = true
        }
        model = machine.model
        serialNumber = machine.serialNumber
        poller = SensorPoller(definition.sensors, on: machine, wallClock: { time.now })
        button = definition.button.map { Button($0, on: machine) }
        led = definition.led.map { StatusLED($0, on: machine) }
    }

    /// The newest reading of each sensor, also of those of programs.
    package func latest() async -> [Reading] { await poller.latest() + handed.latest() }
}

extension BoardSettings {
    /// The definition that the settings name, with the sensors of any board's health, and why others could not be
    /// examined.
    ///
    /// - Throws: `BoardError` if it is missing or faulty.
    package func read(on machine: Machine = Machine()) throws(BoardError) -> (
        definition: BoardDefinition, faults: [BoardError]
    ) {
        let catalog = BoardCatalog(folders: directories)
        var (board, faults) = try named(in: catalog, on: machine)
        guard health else { return (board, faults) }
        do throws(BoardError) {
            board.add(try catalog.healthSensors())
        } catch {
            faults.append(error)
        }
        return (board, faults)
    }

    private func named(
        in catalog: BoardCatalog, on machine: Machine
    ) throws(BoardError) -> (definition: BoardDefinition, faults: [BoardError]) {
        if definition == "auto" {
            let detected = try catalog.detect(machine)
            return (detected.definition, detected.skipped)
        }
        if definition.contains("/") { return (try BoardDefinition(contentsOf: definition), []) }
        return (try catalog.definition(named: definition), [])
    }
}
