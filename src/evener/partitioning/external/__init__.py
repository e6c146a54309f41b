"""Other people's partitioners, each called in a child process of its own."""
