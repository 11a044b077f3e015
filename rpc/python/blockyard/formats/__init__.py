"""What is given and what is written: arguments, specs of games and opponents, seeds, checkpoints, records, run.json."""
