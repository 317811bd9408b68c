//! The division of the buffer of values into matrices.

/// The number of values of a vector.
const VECTOR: usize = 4;

/// A matrix in the buffer of values. Places and widths are counted in vectors of four.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    /// The first vector.
    pub(crate) at: u32,
    /// The distance between rows.
    pub(crate) stride: u32,
    /// The number of vectors of a row.
    pub(crate) width: u32,
}

impl Matrix {
    /// Returns some columns of the matrix.
    pub(crate) const fn columns(self, first: u32, width: u32) -> Self {
        Self { at: self.at + first, stride: self.stride, width }
    }

    /// Returns the number of values from one row to the next.
    pub(crate) const fn row_len(self) -> usize {
        self.stride as usize * VECTOR
    }

    /// Returns the first values of some columns of this matrix, given the values of a row.
    pub(crate) fn values_of<const N: usize>(self, columns: Self, row: &[f32]) -> [f32; N] {
        let first = (columns.at - self.at) as usize * VECTOR;
        std::array::from_fn(|index| row[first + index])
    }
}

/// The numbers of sequences and tokens of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) sequences: u32,
    pub(crate) tokens: u32,
}

impl Size {
    /// Returns whether a batch of this size fits in buffers for batches up to `largest`.
    pub(crate) const fn fits(self, largest: Self) -> bool {
        self.sequences <= largest.sequences && self.tokens <= largest.tokens
    }

    /// Returns a size with room for both.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { sequences: self.sequences.max(other.sequences), tokens: self.tokens.max(other.tokens) }
    }

    /// Returns powers of two with room for this size.
    pub(crate) const fn rounded_up(self) -> Self {
        Self { sequences: self.sequences.next_power_of_two(), tokens: self.tokens.next_power_of_two() }
    }
}

/// The rows of a matrix: so many for each sequence and each token of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) per_sequence: u32,
    pub(crate) per_token: u32,
}

/// A row for each token.
pub(crate) const TOKENS: Rows = Rows { per_sequence: 0, per_token: 1 };
/// A row for each sequence.
pub(crate) const SEQUENCES: Rows = per_sequence(1);

/// Returns so many rows for each sequence.
pub(crate) const fn per_sequence(per_sequence: u32) -> Rows {
    Rows { per_sequence, per_token: 0 }
}

/// Returns so many rows for each token.
pub(crate) const fn per_token(per_token: u32) -> Rows {
    Rows { per_sequence: 0, per_token }
}

impl Rows {
    /// Returns the number of rows for a batch.
    pub(crate) const fn of(self, size: Size) -> u32 {
        self.per_sequence * size.sequences + self.per_token * size.tokens
    }
}

/// The buffer of values while matrices are placed in it, for batches up to a size.
#[derive(Debug)]
pub(crate) struct Arena {
    size: Size,
    next: u32,
    end: u32,
}

impl Arena {
    pub(crate) const fn new(size: Size) -> Self {
        Self { size, next: 0, end: 0 }
    }

    /// Returns the size of the largest batch.
    pub(crate) const fn size(&self) -> Size {
        self.size
    }

    /// Places a matrix whose rows have `width` vectors.
    pub(crate) fn place(&mut self, rows: Rows, width: u32) -> Matrix {
        let at = self.next;
        self.next += rows.of(self.size) * width;
        self.end = self.end.max(self.next);
        Matrix { at, stride: width, width }
    }

    /// Returns the place of the next matrix.
    pub(crate) const fn mark(&self) -> u32 {
        self.next
    }

    /// Lets later matrices take the room of those that were placed since `mark`.
    pub(crate) const fn reuse(&mut self, mark: u32) {
        self.next = mark;
    }

    /// Returns the number of vectors of the buffer.
    pub(crate) const fn vectors(&self) -> u32 {
        self.end
    }
}
