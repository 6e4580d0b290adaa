#if canImport(Testing)
import LocalSubstitution

extension TestSubstitutions {
    /// What happens to a test's requests that no entry answers.
    public enum Unmatched: Sendable, Hashable {
        /// The request fails, and the test gets an issue that explains why, even if the test's code ignores the error.
        ///
        /// Requests whose URL matches an exception are loaded. An exception is an exact URL, or a match pattern such as
        /// `http://127.0.0.1:*/*`.
        case issue(except: [String])
        /// The request fails without an issue, for tests of how code behaves without a network. A recording run doesn't record it.
        /// The exceptions are those of ``issue(except:)``.
        case fail(except: [String])
        /// The request is loaded from the network.
        case load

        /// Every such request fails and is reported as an issue of the test.
        public static var issue: Unmatched { .issue(except: []) }
        /// Every such request fails.
        public static var fail: Unmatched { .fail(except: []) }

        /// The cache's counterpart.
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
