//! The layers of src/lib.rs hold: no module uses one that stands below it.

use std::{collections::HashMap, fs, path::Path};

fn order(lib: &str) -> HashMap<String, (usize, bool)> {
    let mut modules = HashMap::new();
    let mut front_end = false;
    for line in lib.lines() {
        if line.starts_with("// 5: front ends") {
            front_end = true;
        }
        if let Some(name) = line
            .strip_prefix("pub mod ")
            .and_then(|rest| rest.strip_suffix(';'))
        {
            modules.insert(name.to_owned(), (modules.len(), front_end));
        }
    }
    modules
}

fn sources(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

/// The names that follow `crate::` in `line`, also inside a brace group.
fn uses(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        let group = rest.strip_prefix('{').map_or(rest, |inner| inner);
        let parts: Vec<&str> = if rest.starts_with('{') {
            group.split(',').collect()
        } else {
            vec![group]
        };
        for part in parts {
            let name: String = part
                .trim()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            names.push(name);
        }
    }
    names
}

/// Every `crate::` edge from a module to one that it may not use.
fn violations(root: &Path) -> Vec<String> {
    let order = order(&fs::read_to_string(root.join("lib.rs")).unwrap());
    let mut paths = Vec::new();
    sources(root, &mut paths);
    let mut found = Vec::new();
    for path in paths {
        let inside = path.strip_prefix(root).unwrap();
        let module = inside
            .iter()
            .next()
            .unwrap()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs");
        let Some(&(own, own_front)) = order.get(module) else {
            continue;
        };
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            for name in uses(line) {
                let Some(&(other, other_front)) = order.get(&name) else {
                    continue;
                };
                if name != module && (other > own || (own_front && other_front)) {
                    found.push(format!(
                        "{}:{}: {module} uses {name}",
                        inside.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    found
}

#[test]
fn no_module_uses_one_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let found = violations(&root);
    assert!(found.is_empty(), "upward edges:\n{}", found.join("\n"));
}

#[test]
fn an_upward_edge_is_found() {
    let dir = assert_fs::TempDir::new().unwrap();
    fs::write(dir.path().join("lib.rs"), "pub mod model;\npub mod git;\n").unwrap();
    fs::write(dir.path().join("model.rs"), "use crate::{git, model};\n").unwrap();
    assert_eq!(violations(dir.path()), ["model.rs:1: model uses git"]);
}
