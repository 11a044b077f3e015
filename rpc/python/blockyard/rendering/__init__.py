"""Renders positions as RGB arrays, as SVG, and as HTML for notebooks."""
