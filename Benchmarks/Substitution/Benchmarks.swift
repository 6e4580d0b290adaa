import Benchmark
import Workloads

/// Every subject as a benchmark of its own, for absolute figures and baselines; `ratios` has the table.
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
        closure: { benchmark in
            switch benchmark.setupState as? Subject.Work {
            case .operations(let work):
                do {
                    try await work(scale.rawValue)
                } catch {
                    benchmark.error("\(error)")
                }
            case .bytes(let measure):
                do {
                    benchmark.measurement(bytes, try measure())
                } catch {
                    benchmark.error("\(error)")
                }
            case nil:
                benchmark.error("was not prepared")
            }
        },
        setup: { try subject.prepare() }
    )
}
