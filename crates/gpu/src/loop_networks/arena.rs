//! The division of the buffer of values into matrices.

/// A matrix in the buffer of values. Places and widths are counted in vectors of four.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    /// The first vector.
    pub(super) at: u32,
    /// The distance between rows.
    pub(super) stride: u32,
    /// The number of vectors of a row.
    pub(super) width: u32,
}

impl Matrix {
    /// Returns some columns of the matrix.
    pub(super) const fn columns(self, first: u32, width: u32) -> Self {
        Self { at: self.at + first, stride: self.stride, width }
    }
}

/// The numbers of bodies and words of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bodies: u32,
    pub(super) words: u32,
}

impl Size {
    /// Returns a size with room for both.
    pub(super) fn max(self, other: Self) -> Self {
        Self { bodies: self.bodies.max(other.bodies), words: self.words.max(other.words) }
    }

    /// Returns powers of two with room for this size.
    pub(super) const fn rounded_up(self) -> Self {
        Self { bodies: self.bodies.next_power_of_two(), words: self.words.next_power_of_two() }
    }
}

/// The rows of a matrix: so many for each body and each word of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) per_body: u32,
    pub(super) per_word: u32,
}

/// A row for each word.
pub(super) const WORDS: Rows = Rows { per_body: 0, per_word: 1 };
/// A row for each body.
pub(super) const BODIES: Rows = bodies(1);

/// Returns so many rows for each body.
pub(super) const fn bodies(per_body: u32) -> Rows {
    Rows { per_body, per_word: 0 }
}

impl Rows {
    /// Returns the number of rows for a batch.
    pub(super) const fn of(self, size: Size) -> u32 {
        self.per_body * size.bodies + self.per_word * size.words
    }
}

/// The buffer of values while matrices are placed in it, for batches up to a size.
#[derive(Debug)]
pub(super) struct Arena {
    size: Size,
    next: u32,
    end: u32,
}

impl Arena {
    pub(super) const fn new(size: Size) -> Self {
        Self { size, next: 0, end: 0 }
    }

    /// Places a matrix whose rows have `width` vectors.
    pub(super) fn place(&mut self, rows: Rows, width: u32) -> Matrix {
        let at = self.next;
        self.next += rows.of(self.size) * width;
        self.end = self.end.max(self.next);
        Matrix { at, stride: width, width }
    }

    /// Returns the place of the next matrix.
    pub(super) const fn mark(&self) -> u32 {
        self.next
    }

    /// Lets later matrices take the room of those that were placed since `mark`.
    pub(super) const fn reuse(&mut self, mark: u32) {
        self.next = mark;
    }

    /// Returns the number of vectors of the buffer.
    pub(super) const fn vectors(&self) -> u32 {
        self.end
    }
}
