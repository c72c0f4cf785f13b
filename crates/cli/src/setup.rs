//! Where things are and how they are configured, for one run of the binary.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mem0_code_core::config::{self, Backend, FileConfig, KeySource, Secret, Settings};
use mem0_code_engine::evidence;
use serde_json::Value;

use crate::env::Env;
use crate::telemetry::{self, Telemetry};

/// The cached key's file in a data folder.
pub(crate) const KEY_FILE: &str = "api-key";
/// Points from our home to the data folder a host chose for its plugin.
const LINK_SUFFIX: &str = "-plugin.link";

/// Variables in which hosts tell a plugin's hooks where to keep data.
const HOST_FOLDERS: [&str; 2] = ["PLUGIN_DATA", "CLAUDE_PLUGIN_DATA"];

/// What the command line says before the command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Globals {
    /// `--plugin-data-dir`.
    pub(crate) data_folder: Option<PathBuf>,
    /// `--harness`.
    pub(crate) host: Option<String>,
}

/// One run's places and settings.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// The surroundings.
    pub(crate) env: Env,
    /// Our home, `~/.mem0` or `MEM0_DIR`.
    pub(crate) mem0: PathBuf,
    /// The host that calls, or that the command is about.
    pub(crate) host: Option<String>,
    /// Where this host's evidence is; for commands about no host in particular see [`Setup::data_folders`].
    pub(crate) data_folder: PathBuf,
    /// Whether the data folder was named by the command line or the environment.
    pub(crate) is_data_folder_given: bool,
    /// Settings.
    pub(crate) settings: Settings,
    /// Where memories live.
    pub(crate) backend: Backend,
    /// Why `code.toml` was not used, when it was not.
    pub(crate) config_error: Option<String>,
    /// The embedded engine's database, where it is not in our home.
    pub(crate) memory: Option<PathBuf>,
    /// The key, and where it came from.
    pub(crate) api_key: Option<(Secret, KeySource)>,
}

impl Setup {
    /// Reads settings and finds the folders.
    pub(crate) fn new(env: Env, globals: &Globals) -> Self {
        let mem0 = match (env.get("MEM0_DIR"), &env.home) {
            (Some(folder), home) => expand(&folder, home.as_deref()),
            (None, Some(home)) => home.join(".mem0"),
            // Without a home the store still has to be somewhere private to the user.
            (None, None) => std::env::temp_dir().join(format!("mem0-{}", rustix::process::getuid().as_raw())),
        };
        // Workers run in another folder, so a relative one would be another one to them.
        let mem0 = env.cwd.join(mem0);
        let host = globals.host.clone().or_else(|| env.get("MEM0_PLUGIN_HARNESS").filter(|id| is_host_id(id)));
        let named = |name: &&str| env.get(name).map(|folder| expand(&folder, env.home.as_deref()));
        let given = globals
            .data_folder
            .clone()
            .filter(|folder| !folder.as_os_str().is_empty())
            .or_else(|| ["MEM0_CODE_DATA_DIR", "MEM0_PLUGIN_DATA_DIR"].iter().find_map(named))
            // A host deletes the folder it gives a plugin when the plugin goes, and gives it to hooks alone. So it is used
            // only where a Mem0 plugin has begun a database there, which is then continued.
            .or_else(|| {
                HOST_FOLDERS.iter().filter_map(named).find(|folder| folder.join(evidence::FILE_NAME).is_file())
            });
        let is_data_folder_given = given.is_some();
        let data_folder = given.unwrap_or_else(|| default_data_folder(&mem0, host.as_deref().unwrap_or("claude-code")));
        let data_folder = env.cwd.join(data_folder);
        let (file, config_error) = match fs::read_to_string(mem0.join("code.toml")) {
            Ok(text) => match FileConfig::parse(&text) {
                Ok(file) => (file, None),
                Err(error) => (FileConfig::default(), Some(error.to_string())),
            },
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                (FileConfig::default(), None)
            }
            Err(error) => (FileConfig::default(), Some(error.to_string())),
        };
        let lookup = |name: &str| env.get(name);
        let cached = fs::read_to_string(data_folder.join(KEY_FILE)).ok();
        let cli_config = fs::read_to_string(mem0.join("config.json"))
            .ok()
            .and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let api_key = config::api_key(&lookup, cached.as_deref(), cli_config.as_ref());
        let settings = config::resolve(&lookup, &file, host.as_deref());
        let backend = settings.backend(api_key.is_some());
        Self {
            env,
            mem0,
            host,
            data_folder,
            is_data_folder_given,
            settings,
            backend,
            config_error,
            memory: None,
            api_key,
        }
    }

    /// The embedded engine's database.
    pub(crate) fn memory_path(&self) -> PathBuf {
        self.memory.clone().unwrap_or_else(|| self.mem0.join("memory.sqlite3"))
    }

    /// Every data folder this run is about: the given one, the named host's, or those of all hosts that have one.
    pub(crate) fn data_folders(&self) -> Vec<(String, PathBuf)> {
        if self.is_data_folder_given || self.host.is_some() {
            let host = self.host.clone().unwrap_or_else(|| folder_host(&self.data_folder));
            return vec![(host, self.linked_data_folder())];
        }
        let mut found: Vec<(String, PathBuf)> = fs::read_dir(&self.mem0)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                if let Some(host) = name.strip_suffix(LINK_SUFFIX) {
                    let folder = PathBuf::from(fs::read_to_string(entry.path()).ok()?.trim());
                    return folder.is_dir().then(|| (host.to_owned(), folder));
                }
                let host = name.strip_suffix("-plugin")?;
                entry.path().is_dir().then(|| (host.to_owned(), entry.path()))
            })
            .collect();
        found.sort();
        found
    }

    /// Leaves a pointer in our home when the host chose the data folder, so that commands typed in a terminal find it.
    pub(crate) fn link_data_folder(&self) {
        let Some(host) = &self.host else { return };
        let is_hosts_choice = HOST_FOLDERS
            .iter()
            .any(|name| self.env.get(name).is_some_and(|folder| Path::new(&folder) == self.data_folder));
        let link = self.mem0.join(format!("{host}{LINK_SUFFIX}"));
        let text = format!("{}\n", self.data_folder.display());
        if is_hosts_choice && fs::read_to_string(&link).ok().as_deref() != Some(&text) {
            // A convenience: nothing depends on it.
            let _ = mem0_code_engine::db::private_folder(&self.mem0).and_then(|()| fs::write(&link, text));
        }
    }

    /// The usage recorder of this data folder.
    pub(crate) fn telemetry(&self) -> Telemetry {
        let settings = telemetry::Settings {
            switch: self.env.get("MEM0_TELEMETRY"),
            url: self.settings.telemetry_url.clone(),
            host: self.host.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            api_key: self.api_key.as_ref().map(|(key, _)| key.expose().to_owned()),
            api_url: match &self.backend {
                Backend::Platform { url } => url.clone(),
                _ => config::PLATFORM_URL.to_owned(),
            },
        };
        Telemetry::new(&self.data_folder, settings)
    }

    /// Counts something that happened, unless telemetry is off (it is by default). Never fails and never waits.
    pub(crate) fn count(&self, event: &str, session: Option<evidence::Session<'_>>, properties: Value) {
        if self.settings.telemetry_url.is_none() || !self.settings.telemetry {
            return;
        }
        let Value::Object(properties) = properties else { return };
        let (identity, id) = session.map(|session| (session.identity, session.id)).unzip();
        self.telemetry().record(event, identity, id, &properties);
    }

    fn linked_data_folder(&self) -> PathBuf {
        let link = self.host.as_ref().map(|host| self.mem0.join(format!("{host}{LINK_SUFFIX}")));
        match link.and_then(|link| fs::read_to_string(link).ok()) {
            Some(folder) if !self.is_data_folder_given && !self.data_folder.is_dir() => PathBuf::from(folder.trim()),
            _ => self.data_folder.clone(),
        }
    }
}

/// Tells whether a name can be a host's: it becomes part of file names.
pub(crate) fn is_host_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn default_data_folder(mem0: &Path, host: &str) -> PathBuf {
    mem0.join(format!("{host}-plugin"))
}

fn folder_host(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_suffix("-plugin").unwrap_or(&name).to_owned()
}

fn expand(folder: &str, home: Option<&Path>) -> PathBuf {
    match (folder.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(folder),
    }
}
