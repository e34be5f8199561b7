import Groundwork
import Testing

@Suite("Asynchronous condition", .timeLimit(.minutes(5)))
struct AsyncConditionTests {
    @Test("a wait for a condition that holds already ends at once, and has taken it")
    func present() async {
        let numbers = AsyncCondition([1, 2])
        #expect(await numbers.wait { $0.isEmpty ? nil : $0.removeFirst() } == 1)
        #expect(numbers.read { $0 } == [2])
    }

    @Test("a changed condition ends the waits that it satisfies, and leaves the others")
    func change() async {
        let number = AsyncCondition(0)
        async let ten: Int = number.wait { $0 == 10 ? 10 : nil }
        async let odd: Int = number.wait { $0 % 2 == 1 ? $0 : nil }
        number.change { $0 = 3 }
        #expect(await odd == 3)
        number.change { $0 = 10 }
        #expect(await ten == 10)
    }

    @Test("what many senders put into a condition is taken by many readers, each piece once")
    func pieces() async {
        let queue = AsyncCondition([Int]())
        let taken = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var mine: [Int] = []
                    for _ in 0..<500 { mine.append(await queue.wait { $0.isEmpty ? nil : $0.removeFirst() }) }
                    return mine
                }
            }
            for sender in 0..<4 {
                group.addTask {
                    for number in 0..<1000 { queue.change { $0.append(sender * 1000 + number) } }
                    return []
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.sorted() == Array(0..<4000))
    }

    @Test("a changed condition serves waiters in the order in which they came")
    func order() async {
        let places = AsyncCondition(0)
        let log = AsyncCondition([Int]())
        await withTaskGroup(of: Void.self) { group in
            // A task's first step runs at once here, as far as its wait: the tasks wait in this order.
            for number in 0..<20 {
                group.addImmediateTask {
                    await places.wait { free -> Void? in
                        guard free > 0 else { return nil }
                        free -= 1
                        log.change { $0.append(number) }
                        return ()
                    }
                }
            }
            for _ in 0..<20 { places.change { $0 += 1 } }
        }
        #expect(log.read { $0 } == Array(0..<20))
    }

    @Test("what a reader takes from a condition makes room for a writer that waits for it")
    func bounded() async {
        let queue = AsyncCondition([Int]())
        async let written: Void = {
            for number in 0..<100 {
                await queue.wait { numbers -> Void? in
                    guard numbers.count < 2 else { return nil }
                    numbers.append(number)
                    return ()
                }
            }
        }()
        var read: [Int] = []
        for _ in 0..<100 { read.append(await queue.wait { $0.isEmpty ? nil : $0.removeFirst() }) }
        await written
        #expect(read == Array(0..<100))
        #expect(queue.read { $0.isEmpty })
    }

    @Test("a canceled task ends its wait for a condition by a change of its own")
    func cancellation() async {
        let isOver = AsyncCondition(false)
        let task = Task {
            await withTaskCancellationHandler {
                await isOver.wait { $0 ? true : nil }
            } onCancel: {
                isOver.change { $0 = true }
            }
        }
        task.cancel()
        #expect(await task.value)
    }
}
