package guidecode

// The check character is linear over the field GF(32), whose elements are the 32 symbols and whose
// sum is XOR. A code is right when the sum of its symbols, each multiplied by the weight of its
// position, is zero. The weights are the powers of x, which generates the field: over eleven
// positions they are all different and none is zero. So one wrong symbol changes the sum by weight
// × difference, and a swap of two by (weight − weight) × difference: products of non-zero factors,
// never zero.

// reduction is x⁵+x²+1, a primitive polynomial, which makes x a generator.
const reduction = 0b100101

// timesX multiplies a field element by x.
func timesX(a byte) byte {
	a <<= 1
	if a&0b100000 != 0 {
		a ^= reduction
	}
	return a
}

// weightedSum computes the sum by Horner's rule: the last symbol has weight 1, each one before it x
// times more.
func weightedSum(code []byte) byte {
	sum := byte(0)
	for _, symbol := range code {
		sum = timesX(sum) ^ symbol
	}
	return sum
}

// checkSymbol returns the symbol that makes the sum zero when appended.
func checkSymbol(random []byte) byte {
	return timesX(weightedSum(random))
}

func isConsistent(code []byte) bool {
	return weightedSum(code) == 0
}
