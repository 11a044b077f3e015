"""One module for each kind of thing that is measured; each has ``start(name, options) -> Stepper``."""
