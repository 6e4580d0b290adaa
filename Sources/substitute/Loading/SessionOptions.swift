/// The options that say through what session a subcommand loads.
enum SessionOptions {
    static let all = [
        Option(name: "attach", value: nil, help: "with SubstitutionURLProtocol as well"),
        Option(name: "record", value: "DIR", help: "attach, and keep responses in DIR"),
        Option(name: "offline", value: nil, help: "attach, and let nothing reach the network"),
        ByteCount.limitOption,
    ]
}
