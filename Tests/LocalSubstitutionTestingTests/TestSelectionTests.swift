import TestSupport
import Testing

@testable import LocalSubstitutionTesting

@Suite("Which of a suite's tests are run", .values)
struct TestSelectionTests {
    @Test(
        "The command's options and Xcode's environment say so",
        arguments: [
            (["tests"], [], .all), (["tests", "--filter", "a"], [], .part), (["tests", "--filter=a"], [], .part),
            (["tests", "--skip", "a"], ["XCTestBundlePath"], .part), (["tests", "--skip=a"], [], .part),
            (["tests", "--filters"], [], .all), (["tests"], ["XCTestConfigurationFilePath"], .unknown),
            (["tests"], ["XCTestBundlePath"], .unknown), (["tests"], ["XCTestSessionIdentifier"], .unknown),
            (["tests"], ["HOME"], .all),
        ] as [([String], [String], TestSelection)]
    )
    func selection(_ arguments: [String], _ variables: [String], _ expected: TestSelection) {
        let environment = Dictionary(uniqueKeysWithValues: variables.map { ($0, "") })
        #expect(TestSelection(arguments, environment) == expected)
    }
}
