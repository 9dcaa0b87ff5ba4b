//! Packages: under which name front ends offer a group of operations. The table's are here, that of a
//! solver comes with its crate.

/// Where front ends offer an operation.
#[derive(Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name, which also begins its errors.
    pub name: &'static str,
    /// What stands before an operation's name in a program: `la:`.
    pub prefix: &'static str,
    /// Its functions take packed arrays as they are: nothing is converted.
    pub strict: bool,
}

impl Package {
    /// A package whose name stands before the names of its functions.
    pub const fn new(name: &'static str, prefix: &'static str) -> Package {
        Package { name, prefix, strict: false }
    }
}

/// Package `linalg`, exported.
pub const LINALG: &Package = &Package::new("linalg", "la:");
/// Package `linalg`, not exported: members that other packages stand on.
pub const INTERNAL: &Package = &Package::new("linalg", "linalg::");
/// Package `vec`, exported: strict vectors.
pub const VEC: &Package = &Package { strict: true, ..Package::new("vec", "vec:") };
/// Of no package: a program's own.
pub const USER: &Package = &Package::new("defkernel", "");
