//! The syntax of a source file: the names that it defines, imports and mentions.

use std::collections::BTreeSet;

use proc_macro2::{Spacing, Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, UseTree, Visibility};

/// The names in a module, without its child modules.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// The names of the items that the module defines.
    pub(super) items: BTreeSet<String>,
    /// The names of its `macro_rules!`, which may be in scope in other modules.
    pub(super) macros: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// The items that its code names, including those in a private `use`.
    pub(super) mentions: Vec<Mention>,
    /// Its child modules, with their content if they have no file of their own.
    pub(super) children: Vec<(String, Option<Self>)>,
}

/// A name that a `use` brings into scope.
#[derive(Debug)]
pub(super) struct Import {
    /// The name; `None` for a glob import.
    pub(super) name: Option<String>,
    pub(super) path: Vec<String>,
    /// Whether only the module and its descendants see the name.
    pub(super) is_private: bool,
}

/// A place in the code that names an item.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// Whether the path is the name of a called macro.
    pub(super) is_macro: bool,
}

/// Parses a file.
pub(super) fn read(text: &str) -> syn::Result<Source> {
    let file = syn::parse_file(text)?;
    let mut source = Source::default();
    file.items.iter().for_each(|item| source.visit_item(item));
    Ok(source)
}

impl Source {
    fn mention(&mut self, path: Vec<String>, span: Span) {
        self.mentions.push(Mention { path, line: span.start().line, is_macro: false });
    }

    /// Adds the names that a part of a `use` imports; `prefix` is the path before this part.
    fn import(&mut self, tree: &UseTree, prefix: &[String], is_private: bool) {
        let extend = |name: &dyn ToString| [prefix, &[name.to_string()]].concat();
        let (name, path) = match tree {
            UseTree::Path(path) => {
                return self.import(&path.tree, &extend(&path.ident), is_private);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, prefix, is_private));
            }
            // `a::{self}` imports `a`.
            UseTree::Name(name) if name.ident == "self" => (prefix.last().cloned(), prefix.to_vec()),
            UseTree::Rename(rename) if rename.ident == "self" => {
                (Some(rename.rename.to_string()), prefix.to_vec())
            }
            UseTree::Name(name) => (Some(name.ident.to_string()), extend(&name.ident)),
            UseTree::Rename(rename) => (Some(rename.rename.to_string()), extend(&rename.ident)),
            UseTree::Glob(_) => (None, prefix.to_vec()),
        };
        if is_private {
            self.mention(path.clone(), tree.span());
        }
        self.imports.push(Import { name, path, is_private });
    }

    /// Adds the paths among the tokens of a macro, which need not be Rust code.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut start = Span::call_site();
        // Whether the next name continues the path; whether it is a field, a method or part of an ignored path.
        let (mut continues, mut is_ignored) = (false, false);
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let is_joined = matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
            match token {
                TokenTree::Ident(name) if continues => {
                    path.push(name.to_string());
                    continues = false;
                }
                TokenTree::Ident(name) => {
                    self.finish_path(&mut path, start);
                    start = name.span();
                    if !std::mem::take(&mut is_ignored) {
                        path.push(name.to_string());
                    }
                }
                TokenTree::Punct(punct)
                    if punct.as_char() == ':' && punct.spacing() == Spacing::Joint && is_joined =>
                {
                    tokens.next();
                    (continues, is_ignored) = (!path.is_empty(), path.is_empty());
                }
                other => {
                    if let TokenTree::Punct(punct) = &other
                        && punct.as_char() == '!'
                        && path.len() == 1
                    {
                        let line = start.start().line;
                        self.mentions.push(Mention { path: path.clone(), line, is_macro: true });
                    }
                    self.finish_path(&mut path, start);
                    continues = false;
                    is_ignored = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '.');
                    if let TokenTree::Group(group) = other {
                        self.scan(group.stream());
                    }
                }
            }
        }
        self.finish_path(&mut path, start);
    }

    /// Adds a mention of a path that has ended, and clears the path.
    fn finish_path(&mut self, path: &mut Vec<String>, start: Span) {
        if !path.is_empty() {
            let path = std::mem::take(path);
            self.mention(path, start);
        }
    }
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item(&mut self, item: &'ast Item) {
        if attributes(item).iter().any(is_for_tests) {
            return;
        }
        self.items.extend(defined_name(item));
        match item {
            Item::Mod(module) => {
                let content = module.content.as_ref().map(|(_, items)| {
                    let mut source = Self::default();
                    items.iter().for_each(|item| source.visit_item(item));
                    source
                });
                self.children.push((module.ident.to_string(), content));
            }
            Item::Use(import) => {
                // A path that begins with `::` leads to another crate.
                if import.leading_colon.is_none() {
                    self.import(&import.tree, &[], matches!(import.vis, Visibility::Inherited));
                }
            }
            Item::Macro(rules) => {
                self.macros.extend(rules.ident.as_ref().map(ToString::to_string));
                self.visit_macro(&rules.mac);
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.mention(names, path.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        let path: Vec<String> =
            called.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path != ["macro_rules"] {
            self.mentions.push(Mention { path, line: called.span().start().line, is_macro: true });
        }
        self.scan(called.tokens.clone());
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        // An upper-case name in a pattern is a constant, not a variable.
        let name = pattern.ident.to_string();
        if name.starts_with(char::is_uppercase) {
            self.mention(vec![name], pattern.span());
        }
        visit::visit_pat_ident(self, pattern);
    }

    /// Skips visibilities: `pub(in crate::a)` is not a use of `a`.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// Returns whether an attribute is a `#[cfg]` that requires `test`.
fn is_for_tests(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => requires_test(list.tokens.clone()),
        _ => false,
    }
}

/// Returns whether the condition is `test`, or an `all` that contains it.
fn requires_test(condition: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = condition.into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), TokenTree::Group(group)] if name == "all" => {
            let parts: Vec<TokenTree> = group.stream().into_iter().collect();
            let is_comma =
                |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
            parts.split(is_comma).any(|part| requires_test(part.iter().cloned().collect()))
        }
        _ => false,
    }
}

/// Returns the name that an item defines, unless it is a module or an import.
fn defined_name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
