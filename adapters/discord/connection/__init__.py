"""How Discord is heard: a gateway, begun anew when it falls."""
