"""The oracle suite: runs each case in real PyTorch and in a subject, and compares."""
