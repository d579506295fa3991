"""A recorder between clients and a broker: frames pass, group requests are written down, faults injected."""
