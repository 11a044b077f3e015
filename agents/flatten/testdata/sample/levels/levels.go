package levels

var level int

func init() { level = 3 }

func Level() int { return level }
