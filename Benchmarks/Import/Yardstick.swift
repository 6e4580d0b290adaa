import Foundation

// Reads a file as JSON. `Import/measure.py` compares `substitute import` with this.
let data = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
let object = try JSONSerialization.jsonObject(with: data)
print((object as? [String: Any])?.count ?? 0)
