// A substitute for the module `Darwin`, so that Linux's compiler checks the code that only Apple platforms compile. It's declared
// as in Apple's headers, with bodies that never run. Names may be added here, but no conveniences.

@_exported public import Glibc

/// `sys/socket.h`.
public let SO_NOSIGPIPE: Int32 = 0x1022
