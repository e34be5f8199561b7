import Groundwork

/// What the kernel says about the health of the board itself.
extension SensorDefinition.SystemMetric {
    /// How much of the life of an eMMC is used at most, in percent: of the worse of its two types of memory, and of the
    /// worst one where there are several. It counts in steps of 10 %; 110 is beyond its estimated life
    /// (JESD84-B51, `DEVICE_LIFE_TIME_EST`).
    static func flashWorn(_ files: DriverFiles) throws(BoardError) -> Double {
        try worst(of: "life_time", in: 0x01...0x0B, files) * 10
    }

    /// The state of the spare blocks of an eMMC: 1 normal, 2 when 80 % of them are used, 3 when 90 % are
    /// (JESD84-B51, `PRE_EOL_INFO`).
    static func flashReserve(_ files: DriverFiles) throws(BoardError) -> Double {
        try worst(of: "pre_eol_info", in: 0x01...0x03, files)
    }

    /// The greatest of the numbers that eMMC give in a file such as `/sys/block/mmcblk0/device/life_time`, `0x01 0x02`.
    /// Zero is not defined there, and SD cards do not have the files.
    private static func worst(
        of name: String, in known: ClosedRange<Int>, _ files: DriverFiles
    ) throws(BoardError) -> Double {
        var worst: Int?
        for block in files.machine.names(in: "/sys/block", startingWith: "mmcblk") {
            guard let bytes = files.contentIfThere(of: "/sys/block/\(block)/device/\(name)") else { continue }
            for word in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace) {
                guard word.hasPrefix("0x"), let number = Int(word.dropFirst(2), radix: 16), known.contains(number)
                else { continue }
                worst = max(worst ?? 0, number)
            }
        }
        guard let worst else {
            throw BoardError.metricAbsent(sensor: files.sensor, place: "/sys/block/mmcblk*/device/\(name)")
        }
        return Double(worst)
    }

    /// What the agent has counted this month.
    static func traffic(_ files: DriverFiles) throws(BoardError) -> Traffic {
        guard let traffic = files.machine.traffic() else {
            throw BoardError.metricAbsent(sensor: files.sensor, place: "agent that counts bytes")
        }
        return traffic.used
    }

    /// Why the board started: 1 its power came on, 2 it was restarted, 3 its watchdog restarted it, 4 it had been too
    /// hot, 5 its power had failed.
    ///
    /// Drivers of watchdogs say so as far as their hardware knows (`WDIOF_*` in linux/watchdog.h). A Raspberry Pi from
    /// model 4 on has the register `PM_RSTS` in its device tree: its bit `HADPOR` says whether the power came on. It does
    /// not tell a restart from one by the watchdog, because Linux restarts it by the watchdog.
    static func bootReason(_ files: DriverFiles) throws(BoardError) -> Double {
        let watchdogs = "/sys/class/watchdog"
        for watchdog in files.machine.names(in: watchdogs, startingWith: "watchdog") {
            guard let bytes = files.contentIfThere(of: "\(watchdogs)/\(watchdog)/bootstatus"),
                let number = DriverNumber.parse(bytes), let status = UInt32(exactly: number)
            else { continue }
            if status & 0x20 != 0 { return 3 }  // WDIOF_CARDRESET
            if status & 0x01 != 0 { return 4 }  // WDIOF_OVERHEAT
            if status & 0x10 != 0 { return 5 }  // WDIOF_POWERUNDER
        }
        let register = "/proc/device-tree/chosen/bootloader/rsts"
        guard let bytes = files.contentIfThere(of: register), bytes.count == 4 else {
            throw BoardError.metricAbsent(sensor: files.sensor, place: "bootstatus in \(watchdogs), and no \(register)")
        }
        // A cell of a device tree is big-endian.
        let reset = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return reset & 0x1000 != 0 ? 1 : 2
    }
}
