package entry

// Memory is the most that the agents of one spec take, in bytes. Processes that they start are not counted.
type Memory struct {
	Spec   int64 // once, for all agents: the weights of a network
	Search int64 // for each choice that is made at the same time
	Agent  int64 // for each agent
}
