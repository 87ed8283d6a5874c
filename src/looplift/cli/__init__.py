"""The commands: scripts run with their loops lifted, loops checked against their batched form."""
