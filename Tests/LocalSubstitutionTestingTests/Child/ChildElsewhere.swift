#if os(Linux) || os(macOS)
import LocalSubstitutionTesting
import Testing

/// A test with a lower line than those of `ChildAgain`, in a file that comes after theirs.
@Suite(.enabled(if: ChildProcess.isThis))
struct ChildElsewhere {
    @Test(.substituting(ChildRecording.map)) func first() async { await ChildAgain.send("first") }
}
#endif
