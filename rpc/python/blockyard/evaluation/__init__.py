"""How strong a policy is: matches against agents, their tables and intervals."""
