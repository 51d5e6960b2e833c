"""What is made of a release beside the wheel: its bill of materials, and the base image of the container."""
