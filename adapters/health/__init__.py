"""How the service is, told over HTTP to whoever watches it: /healthz, /readyz, /metrics."""
