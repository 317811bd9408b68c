//! The errors of the linker.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// A line of a module, as error messages print it: `arm64/flags.wgsl:7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path of the file, such as `arm64/flags.wgsl`.
    pub path: String,
    /// The number of the line, counted from 1.
    pub line: usize,
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.line)
    }
}

/// The reason that modules cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError {
    /// The root, or one side of a substitution, does not name a module.
    NoSuchModule {
        /// The name that the caller gave.
        module: String,
    },
    /// An import names a module that does not exist.
    UnknownModule {
        /// The import.
        place: Place,
        /// The module it names.
        module: String,
    },
    /// An import names an item that the module does not declare.
    UnknownItem {
        /// The import.
        place: Place,
        /// The module it names.
        module: String,
        /// The item that the module lacks.
        item: String,
    },
    /// The module does not use what it imports, or imports it twice.
    UnusedImport {
        /// The import.
        place: Place,
        /// The item that is not used.
        item: String,
    },
    /// An import has another form than `import package::module::{item, item};`, in one line or wrapped.
    MalformedImport {
        /// The import.
        place: Place,
    },
    /// An import follows a declaration.
    LateImport {
        /// The import.
        place: Place,
    },
    /// A module imports itself, directly or through others.
    Cycle {
        /// The import that closes the cycle.
        place: Place,
        /// The modules of the cycle, in the order of their imports.
        modules: Vec<String>,
    },
    /// A fragment has another form than `fragment name {`, indented statements, and `}`.
    MalformedFragment {
        /// The first line of the fragment.
        place: Place,
    },
    /// A fragment has the name of another declaration of its module.
    DeclaredTwice {
        /// The first line of the fragment.
        place: Place,
        /// The name that both have.
        name: String,
    },
    /// A line that begins with `insert` is not `insert name;`, or is not indented and so is outside of any function.
    MalformedInsert {
        /// The line.
        place: Place,
    },
    /// A line inserts a name that is neither a fragment that its module imports, nor, in a fragment, one that the module
    /// declares above it.
    UnknownFragment {
        /// The line that inserts.
        place: Place,
        /// The name that it inserts.
        fragment: String,
    },
}

impl Display for LinkError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchModule { module } => write!(f, "there is no module `{module}`"),
            Self::UnknownModule { place, module } => write!(f, "{place}: there is no module `{module}`"),
            Self::UnknownItem { place, module, item } => {
                write!(f, "{place}: `{module}` does not declare `{item}`")
            }
            Self::UnusedImport { place, item } => {
                write!(f, "{place}: `{item}` is imported and not used, or imported twice; remove it")
            }
            Self::MalformedImport { place } => {
                write!(
                    f,
                    "{place}: an import is `import package::module::{{item, item}};`, or wrapped: \
                     `import package::module::{{`, indented lines `item, item,`, and `}};`"
                )
            }
            Self::LateImport { place } => {
                write!(f, "{place}: an import below a declaration; move it to the top of the file")
            }
            Self::Cycle { place, modules } => {
                write!(f, "{place}: modules import each other: {}", modules.join(" -> "))
            }
            Self::MalformedFragment { place } => {
                write!(f, "{place}: a fragment is `fragment name {{`, indented statements, and a line `}}`")
            }
            Self::DeclaredTwice { place, name } => {
                write!(f, "{place}: `{name}` is declared twice in this module; rename the fragment")
            }
            Self::MalformedInsert { place } => {
                write!(f, "{place}: a fragment is inserted by an indented line `insert name;`")
            }
            Self::UnknownFragment { place, fragment } => {
                write!(
                    f,
                    "{place}: this module imports no fragment `{fragment}`, and declares none above in a fragment; \
                     import it, or call a function"
                )
            }
        }
    }
}

impl Error for LinkError {}
