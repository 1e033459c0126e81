"""Remote instructions: what TPUT and TGET move, piece by piece, and what they and the signals allow."""
