//! `config`: the settings in force, and changing them in `code.toml`.

use mem0_code_core::config::{self, FileConfig, KEYS};
use mem0_code_core::envvars;
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item};

use crate::cli::ConfigAction;
use crate::fsx;
use crate::output;
use crate::report::{CommandResult, Ending, Usage};
use crate::setup::Setup;

/// Shows or changes settings.
pub(crate) fn run(setup: &Setup, action: &ConfigAction) -> CommandResult {
    match action {
        ConfigAction::List { json } => list(setup, *json),
        ConfigAction::Get { key, json } => {
            let (key, value) = (known(key)?, shown(setup, known(key)?));
            if *json {
                output::json(&Map::from_iter([(key.to_owned(), Value::from(value))]));
            } else {
                output::line(value);
            }
            Ok(Ending::Done)
        }
        ConfigAction::Set { key, value } => set(setup, known(key)?, value),
    }
}

fn known(key: &str) -> Result<&'static str, Usage> {
    KEYS.iter()
        .copied()
        .find(|known| *known == key)
        .ok_or_else(|| Usage(format!("there is no setting `{key}`; there are {}", KEYS.join(", "))))
}

fn shown(setup: &Setup, key: &str) -> String {
    setup.settings.describe(key, &setup.backend).unwrap_or_default()
}

fn list(setup: &Setup, as_json: bool) -> CommandResult {
    if as_json {
        let all: Map<String, Value> = KEYS.iter().map(|key| ((*key).to_owned(), shown(setup, key).into())).collect();
        output::json(&all);
        return Ok(Ending::Done);
    }
    for key in KEYS {
        output::line(format_args!("{key:<24} {}", shown(setup, key)));
    }
    let set: Vec<&str> =
        envvars::ALL.iter().map(|variable| variable.name).filter(|name| setup.env.get(name).is_some()).collect();
    if !set.is_empty() {
        output::line(format_args!("\nSet in the environment: {}", set.join(", ")));
    }
    Ok(Ending::Done)
}

fn set(setup: &Setup, key: &str, value: &str) -> CommandResult {
    let path = setup.mem0.join("code.toml");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(anyhow::Error::new(error).context(format!("reading {}", path.display()))),
    };
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| anyhow::anyhow!("{} is not TOML: {error}", path.display()))?;
    // `7` is a number where one is wanted and a name where that is; one glob is a list of one.
    let plain = toml_edit::Value::from(value);
    let parsed = value.parse::<toml_edit::Value>().unwrap_or_else(|_| plain.clone());
    let list = toml_edit::Value::from(toml_edit::Array::from_iter([value]));
    let mut first_error = None;
    let found = [parsed, plain, list].into_iter().find_map(|candidate| {
        put(&mut document, key, candidate);
        match FileConfig::parse(&document.to_string()) {
            Ok(file) => Some(file),
            Err(error) => {
                first_error.get_or_insert(error.reason);
                None
            }
        }
    });
    let refused = |reason: &str| Usage(format!("`{value}` cannot be the value of `{key}`: {reason}"));
    let Some(file) = found else { return Err(refused(&first_error.unwrap_or_default()).into()) };
    let settings = config::resolve(&|_| None, &file, None);
    if let Some(warning) = settings.warnings.iter().find(|warning| warning.starts_with(&format!("{key}: "))) {
        return Err(refused(warning).into());
    }
    // A number beyond what counts would be kept and another one used.
    let counts = settings.describe(key, &settings.backend(false)).and_then(|text| text.parse::<i64>().ok());
    let given = document.get(key).and_then(Item::as_integer);
    if let (Some(given), Some(counts)) = (given, counts)
        && given != counts
    {
        return Err(refused(&format!("{counts} is the nearest that is")).into());
    }
    let text = document.to_string();
    mem0_code_engine::db::private_folder(&setup.mem0)?;
    fsx::write_atomic(&path, text.as_bytes(), fsx::Mode::Private)?;
    output::line(format_args!("{key} = {value} in {}", path.display()));
    Ok(Ending::Done)
}

/// Puts a value in place of an older one, whose comments stay.
fn put(document: &mut DocumentMut, key: &str, value: toml_edit::Value) {
    match document.get_mut(key) {
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        _ => {
            document.insert(key, toml_edit::value(value));
        }
    }
}
