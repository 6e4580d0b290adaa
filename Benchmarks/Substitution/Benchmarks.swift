import Benchmark
import Workloads

/// Every subject as a separate benchmark, for absolute figures and baselines. `ratios` prints the table.
let benchmarks: @Sendable () -> Void = {
    for topic in Topic.all {
        for subject in topic.subjects {
            register(subject, of: topic)
        }
    }
}

private let bytes = BenchmarkMetric.custom("bytes", polarity: .prefersSmaller, useScalingFactor: false)

private func register(_ subject: Subject, of topic: Topic) {
    let scale: BenchmarkScalingFactor = subject.operations >= 1_000 ? .kilo : .one
    Benchmark(
        "\(topic.name): \(subject.name)",
        configuration: .init(
            metrics: [.wallClock, .throughput, .peakMemoryResident, bytes],
            scalingFactor: scale,
            maxDuration: .seconds(2)
        ),
        closure: { (benchmark: Benchmark, work: Subject.Work) async throws in
            switch work {
            case .operations(let work): try await work(scale.rawValue)
            case .bytes(let measure): benchmark.measurement(bytes, try measure())
            }
        },
        setup: { try subject.prepare() }
    )
}
