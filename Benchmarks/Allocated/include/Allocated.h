#pragma once

#include <stddef.h>

/// Returns the bytes that the process has allocated and not freed yet; 0 where the system can't say.
size_t allocated_bytes(void);
