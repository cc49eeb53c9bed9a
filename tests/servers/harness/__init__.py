"""What installs, starts and stops the servers of the matrix, and compares what wsmeter made of them."""
