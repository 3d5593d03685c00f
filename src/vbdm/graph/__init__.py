"""The graph room: points, distances, searches; who is near whom."""
