// Compiled as one more file of each target that uses `LocalSubstitution`, so that all mean the same substitute.

import LocalSubstitution

typealias URLCache = LocalSubstitution.URLCache
