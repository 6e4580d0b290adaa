// Compiled as one more file of each target that has the substitute for `URLCache`.

import Foundation
import FoundationNetworking

extension URLSessionConfiguration {
    var urlCache: URLCache? {
        get { nil }
        set {}
    }
}
