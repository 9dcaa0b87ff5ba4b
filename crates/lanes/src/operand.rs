//! A strided operand: a slice, where it begins and how it steps. Bounds are checked once, when a
//! driver is entered; the kernels then read unchecked.

/// Whether every index of `shape` lands inside a slice of `len` elements.
pub(crate) fn reaches(len: usize, offset: usize, shape: &[usize], strides: &[isize]) -> bool {
    if shape.len() != strides.len() {
        return false;
    }
    if shape.contains(&0) {
        return true;
    }
    let (mut low, mut high) = (offset as i128, offset as i128);
    for (&extent, &stride) in shape.iter().zip(strides) {
        let reach = (extent as i128 - 1) * stride as i128;
        if reach < 0 {
            low += reach;
        } else {
            high += reach;
        }
    }
    low >= 0 && high < len as i128
}
