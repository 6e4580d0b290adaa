import LocalSubstitution
import LocalSubstitutionTesting
import TestSupport
import Testing

@Suite("Places for tests", .waits, .timeLimit(.minutes(5)))
struct PlacesTests {
    @Test("Where sessions don't hold descriptors of their own, there's no limit")
    func shared() {
        #expect(Places.softLimit(.apple) == nil)
    }

    @Test(
        "Their number depends on how many descriptors are left, and is at least 1",
        arguments: [
            (256, 20, 43), (1024, 40, 230), (2047, 3, 495), (64, 10, 1), (10, 10, 1), (2048, 10, nil),
            (nil, 10, nil),
        ] as [(Int?, Int, Int?)]
    )
    func count(_ limit: Int?, _ open: Int, _ places: Int?) {
        #expect(Places.count(limit: limit) { _ in open } == places)
    }

    @Test("A place that's given back goes to the next test")
    func next() async {
        let places = Places(1)
        #expect(await places.take())
        let other = Task { await places.take() }
        await places.waitForQueue(1)
        places.giveBack()
        #expect(await other.value)
    }

    @Test("A wait that takes too long ends without a place")
    func impatient() async {
        let places = Places(1, patience: 0.01)
        #expect(await places.take())
        #expect(await !places.take())
        places.giveBack()
        #expect(await places.take())
    }

    @Test("A cancelled wait ends, and its place isn't lost", arguments: [true, false])
    func cancelled(_ isEarly: Bool) async {
        let places = Places(1)
        #expect(await places.take())
        let other = Task {
            if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
            return await places.take()
        }
        if !isEarly {
            await places.waitForQueue(1)
            other.cancel()
        }
        #expect(await !other.value)
        places.giveBack()
        #expect(await places.take())
    }

    @Test("A body without a place doesn't give one back")
    func balance() async {
        let places = Places(1, patience: 0.01)
        await Places.with(places) { await Places.with(places) {} }
        #expect(await places.take())
        #expect(await !places.take())
    }

    #if os(Linux)
    @Test(
        "With 256 descriptors, hundreds of parallel tests pass, with scopes in them and detached tasks",
        .serialized,
        arguments: [
            "crowd", "crowdOfScopes", "Nested/crowd", "turnWithoutPlace", "turnOfTraitWithoutPlace",
            "scopeWithoutPlace",
        ]
    )
    func fewDescriptors(_ test: String) async throws {
        let child = try await ChildProcess.run("ChildCrowd/\(test)\\(", descriptors: 256)
        #expect(child.ended.contains("ChildCrowd/\(test)"), "\(child.output)")
        #expect(child.issues.filter { !$0.isWarning }.map(\.description) == [], "\(child.output.suffix(2000))")
    }

    @Test("Only a test's cases take places, so one place is enough")
    func onePlace() async throws {
        let child = try await ChildProcess.run("ChildCrowd/onePlace\\(", descriptors: 64)
        #expect(child.ended.contains("ChildCrowd/onePlace"), "\(child.output)")
        #expect(child.issues.map(\.description) == [], "\(child.output)")
    }
    #endif
}

extension Places {
    /// Waits until so many tests wait for a place.
    fileprivate func waitForQueue(_ count: Int) async {
        while waiting < count { await Task.yield() }
    }
}
