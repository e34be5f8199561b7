// Nothing to call: the release program is linked so that libdispatch itself calls what is in here.
