# Nothing for Python: other compiled modules use this one through its .pxd.
