"""The one door: what X, y and weights are, wherever they live."""
