"""Pictures of positions: pixels, SVG, and what notebooks show."""
