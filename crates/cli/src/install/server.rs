//! Whether the registered program answers as an MCP server: it is started, greeted and asked for its tools.

use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long the whole exchange may take. Hosts wait between 5 and 60 seconds.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long the server may take to end once its input has.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// Starts the server as a host does and returns the names of its tools.
///
/// # Errors
/// When it does not start, says nothing in time, or answers with something else.
pub(super) fn tools(program: &Path, host: &str, env: &[(String, String)]) -> anyhow::Result<Vec<String>> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(["mcp", "--host", host])
        .envs(env.iter().map(|(name, value)| (name, value)))
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("running {} mcp", program.display()))?;
    let (mut stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (lines, answers) = mpsc::channel();
    if let Some(stdout) = stdout {
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).take(64).try_for_each(|line| lines.send(line))
        });
    }
    let client = json!({ "name": "mem0-code doctor", "version": env!("CARGO_PKG_VERSION") });
    let greeting = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ];
    if let Some(stdin) = &mut stdin {
        for message in messages {
            // A server that is gone already shows in its silence.
            let _ = writeln!(stdin, "{message}");
        }
    }
    let answer = loop {
        let Some(left) = TIMEOUT.checked_sub(start.elapsed()) else { break None };
        let Ok(line) = answers.recv_timeout(left) else { break None };
        match serde_json::from_str::<Value>(&line) {
            Ok(message) if message["id"] == 2 => break Some(message),
            _ => {}
        }
    };
    drop(stdin);
    let deadline = Instant::now() + END_TIMEOUT;
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let Some(answer) = answer else {
        bail!("{} mcp gave no list of tools within {} s", program.display(), TIMEOUT.as_secs());
    };
    let tools =
        answer["result"]["tools"].as_array().with_context(|| format!("{} mcp lists no tools", program.display()))?;
    Ok(tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect())
}
