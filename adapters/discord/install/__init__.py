"""What is registered with Discord: the commands, and the link of invitation."""
