// Nothing to call: `pools.c` is called by libdispatch in the release program, and `wiped.c` takes the place of two
// functions of the C library.
