#if canImport(Testing)
import LocalSubstitution

extension TestSubstitutions {
    /// What happens to a test's requests that no entry answers.
    public enum Unmatched: Sendable, Hashable {
        /// The request fails, and the test has an issue that explains why, even if the test's code swallows the error.
        ///
        /// Requests whose URL matches one of the exceptions are loaded. They are exact URLs, or match patterns such as
        /// `http://127.0.0.1:*/*`.
        case issue(except: [String])
        /// The request fails, and nothing else happens: for tests of what code does without a network. It's never recorded. The
        /// exceptions are those of ``issue(except:)``.
        case fail(except: [String])
        /// The request is loaded from the network.
        case load

        /// Every such request fails, and is an issue of the test.
        public static var issue: Unmatched { .issue(except: []) }
        /// Every such request fails.
        public static var fail: Unmatched { .fail(except: []) }

        /// The same for a cache.
        var ofCache: LocalSubstitutionCache.Unmatched {
            switch self {
            case .issue(let exceptions), .fail(let exceptions): .fail(except: exceptions)
            case .load: .load
            }
        }

        var isIssue: Bool { if case .issue = self { true } else { false } }
    }
}
#endif
