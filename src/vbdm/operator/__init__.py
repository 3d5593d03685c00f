"""The operator room: from the kernel to L."""
