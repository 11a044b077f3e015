package tournament

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEstimate(t *testing.T) {
	require.Equal(t, "0.0", estimateOf(nil).format("%.1f"))
	require.Equal(t, "7.0", estimateOf([]float64{7}).format("%.1f"))
	// The mean of 1..5 is 3, s²/n is 0.5, and Student's t for 4 degrees of freedom 2.776.
	require.Equal(t, "3.00 (1.04 to 4.96)", estimateOf([]float64{1, 2, 3, 4, 5}).format("%.2f"))
}
