//! Every shader is a pass with a gpu file and a CPU twin, is valid, and agrees with what Rust says of it.

use std::{collections::BTreeSet, fs, path::Path};

use naga::{
    AddressSpace, Module, StorageAccess, TypeInner,
    valid::{Capabilities, ValidationFlags, Validator},
};
use planescope::gpu::{Binding, PASSES, PassSpec};

/// File stems in a folder of the repository, of files that end in `.ext`.
fn stems(folder: &str, ext: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(folder).expect("the folder exists").map(|entry| entry.expect("is readable").path());
    let files = files.filter(|path| path.extension().is_some_and(|found| found == ext));
    files.map(|path| path.file_stem().expect("has a name").to_string_lossy().into_owned()).collect()
}

fn parsed(spec: &PassSpec) -> Module {
    naga::front::wgsl::parse_str(spec.source)
        .unwrap_or_else(|error| panic!("{}: {}", spec.name, error.emit_to_string(spec.source)))
}

#[test]
fn every_shader_is_a_pass_with_a_cpu_twin() {
    let shaders = stems("shaders", "wgsl");
    let passes: BTreeSet<_> = PASSES.iter().map(|spec| spec.name.to_owned()).collect();
    assert_eq!(shaders, passes, "shaders/*.wgsl and gpu::PASSES");
    for (folder, found) in [("src/gpu", stems("src/gpu", "rs")), ("src/cpu", stems("src/cpu", "rs"))] {
        let missing: Vec<_> = passes.difference(&found).collect();
        assert!(missing.is_empty(), "{folder} has no {missing:?}");
    }
}

#[test]
fn every_shader_is_valid() {
    for spec in PASSES {
        let module = parsed(spec);
        let verdict = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
        if let Err(error) = verdict {
            panic!("{}: {}", spec.name, error.emit_to_string(spec.source));
        }
    }
}

#[test]
fn entry_point_and_workgroup_size_are_as_rust_says() {
    for spec in PASSES {
        let module = parsed(spec);
        let [entry] = module.entry_points.as_slice() else { panic!("{}: one entry point", spec.name) };
        assert_eq!((entry.name.as_str(), entry.workgroup_size), ("main", [spec.workgroup, 1, 1]), "{}", spec.name);
    }
}

#[test]
fn bindings_are_as_rust_says() {
    for spec in PASSES {
        let module = parsed(spec);
        let mut found = Vec::new();
        for (_, variable) in module.global_variables.iter() {
            let Some(at) = &variable.binding else { continue };
            assert_eq!(at.group, 0, "{}: group of {:?}", spec.name, variable.name);
            let binding = match variable.space {
                AddressSpace::Uniform => Binding::Uniform,
                AddressSpace::Storage { access } if access == StorageAccess::LOAD => Binding::Read,
                AddressSpace::Storage { .. } => Binding::Write,
                other => panic!("{}: {:?} lies in {other:?}", spec.name, variable.name),
            };
            found.push((at.binding, binding));
        }
        found.sort_by_key(|(index, _)| *index);
        let expected: Vec<_> = (0..).zip(spec.bindings.iter().copied()).collect();
        assert_eq!(found, expected, "{}", spec.name);
        let storage = spec.bindings.iter().filter(|&&binding| binding != Binding::Uniform).count();
        assert!(storage <= 8, "{}: WebGPU guarantees 8 storage buffers, not {storage}", spec.name);
    }
}

#[test]
fn uniform_structs_have_the_offsets_that_rust_says() {
    for spec in PASSES {
        let module = parsed(spec);
        let variable = module.global_variables.iter().find(|(_, variable)| variable.space == AddressSpace::Uniform);
        assert_eq!(variable.is_some(), spec.uniform.is_some(), "{}", spec.name);
        let (Some((_, variable)), Some(uniform)) = (variable, spec.uniform) else { continue };
        let ty = &module.types[variable.ty];
        let TypeInner::Struct { members, span } = &ty.inner else { panic!("{}: no struct", spec.name) };
        let names = members.iter().map(|member| member.name.as_deref().unwrap_or_default());
        let found: Vec<_> = names.zip(members.iter().map(|member| member.offset as usize)).collect();
        assert_eq!(found, uniform.fields, "{}", spec.name);
        assert_eq!((ty.name.as_deref(), *span as usize), (Some(uniform.name), uniform.bytes), "{}", spec.name);
    }
}

/// Chrome refuses `a >> b & c`, which naga accepts: operands of `&`, `|`, `^` and of shifts are unary
/// expressions (<https://www.w3.org/TR/WGSL/#operator-precedence-associativity>).
#[test]
fn bitwise_operators_are_not_mixed_without_parentheses() {
    for spec in PASSES {
        for (line, text) in (1..).zip(spec.source.lines()) {
            assert!(!mixes_operators(text), "{}, line {line}: {}", spec.name, text.trim());
        }
    }
    for mixed in ["x = a >> b & c;", "f(a | b << c)", "a & b == c", "a + b << c", "x = a & b | c;"] {
        assert!(mixes_operators(mixed), "{mixed}");
    }
    for clear in [
        "x = (a >> b) & c; // a & b | c",
        "f(&a[i >> 2u], b << (c & 3u), d | e | f)",
        "a << b < c && d",
        "a -= -1 << 2u;",
    ] {
        assert!(!mixes_operators(clear), "{clear}");
    }
}

/// True when a bitwise operator or a shift stands beside another operator in the same parentheses.
fn mixes_operators(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let spaced = code.replace(['(', '['], " ( ").replace([')', ']'], " ) ").replace([',', ';', '{', '}'], " , ");
    // One list of binary operators for each open parenthesis.
    let mut open = vec![Vec::new()];
    for token in spaced.split_whitespace() {
        match token {
            "(" => open.push(Vec::new()),
            ")" if open.len() > 1 && mixed(&open.pop().unwrap_or_default()) => return true,
            "," | "=" | "&&" | "||" | "return" | ")" => {}
            "&" | "|" | "^" | "<<" | ">>" | "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | ">" | "<=" | ">=" => {
                if let Some(operators) = open.last_mut() {
                    operators.push(token.to_owned());
                }
                continue;
            }
            _ => continue,
        }
        if token != "(" && token != ")" && open.last_mut().is_some_and(|operators| mixed(&std::mem::take(operators))) {
            return true;
        }
    }
    open.iter().any(|operators| mixed(operators))
}

fn mixed(operators: &[String]) -> bool {
    let is_bitwise = |operator: &String| ["&", "|", "^"].contains(&operator.as_str());
    let is_shift = |operator: &String| ["<<", ">>"].contains(&operator.as_str());
    let is_relation = |operator: &String| ["==", "!=", "<", ">", "<=", ">="].contains(&operator.as_str());
    let differ = operators.iter().any(|operator| operator != &operators[0]);
    let shifted = operators.split(is_relation).any(|side| side.iter().any(is_shift) && side.len() > 1);
    differ && operators.iter().any(is_bitwise) || shifted
}
