#pragma once

#include <stddef.h>

/// The bytes that the process has allocated and not freed yet; 0 where that can't be asked.
size_t allocated_bytes(void);
